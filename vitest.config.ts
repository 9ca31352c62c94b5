import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Two cores: more workers than that only make real servers slower.
    maxWorkers: 2,
    reporters: ['default'],
    projects: [
      {
        test: {
          name: 'alone',
          include: ['test/unit/**/*.test.ts', 'test/infra/**/*.test.ts'],
          setupFiles: ['test/support/expected-patterns.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'servers',
          include: ['test/{service,e2e,faults}/**/*.test.ts'],
          globalSetup: ['test/support/servers.ts'],
          setupFiles: ['test/support/expected-patterns.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
})
