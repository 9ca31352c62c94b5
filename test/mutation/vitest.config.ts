import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { sectionOf } from './sections.ts'

const { tests, servers } = sectionOf(process.env.SHARELOCK_MUTATION ?? '')

/** Runs the files in the section's order; Vitest's own runs the slowest first. */
class SectionOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => tests.findIndex((test) => moduleId.endsWith(test))
    return files.toSorted((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  test: {
    include: [...tests],
    sequence: { sequencer: SectionOrder },
    globalSetup: servers ? ['test/support/servers.ts'] : [],
    setupFiles: ['test/support/expected-patterns.ts'],
    isolate: servers,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
