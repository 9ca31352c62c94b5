import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, startProcess, stopProcess, waitReady } from '../../../local/servers/process.ts'

const run = promisify(execFile)
const START_TIMEOUT_MS = 60_000
const STOP_GRACE_MS = 10_000

/** Files of this run's own authority, and of the certificate that everything here serves with. */
export type Certificates = { readonly authority: string; readonly certificate: string; readonly key: string }

/** For `localhost`, which is where the emulator and the stores' doors listen. */
export const makeCertificates = async (python: string, folder: string): Promise<Certificates> => {
  const script = join(import.meta.dirname, 'certificates.py')
  await run(python, [script, folder, 'localhost', '127.0.0.1', '*.localhost'])
  const file = (name: string) => join(folder, `${name}.pem`)
  return { authority: file('authority'), certificate: file('certificate'), key: file('key') }
}

export type EmulatorOptions = {
  readonly python: string
  readonly folder: string
  readonly region: string
  readonly certificates: Certificates
  readonly databasePort: number
  readonly masterPassword: string
  readonly lockPort: number
}

export type Emulator = { readonly url: string; readonly logFile: string; readonly stop: () => Promise<void> }

/**
 * Starts the emulator with its checks of signatures and policies on, over TLS: bucket policies refuse plain HTTP, as they
 * should. Its functions are Node processes that trust this run's authority as well.
 */
export const startEmulator = async (options: EmulatorOptions): Promise<Emulator> => {
  const { python, folder, region, certificates } = options
  const port = await freePort()
  // The functions' scripts are unpacked here, and are CommonJS whatever the project around them is.
  const temporary = join(folder, 'tmp')
  await mkdir(temporary, { recursive: true })
  await writeFile(join(temporary, 'package.json'), '{"type":"commonjs"}')
  const variables = {
    // The functions' Node is the one that runs this.
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
    HOME: folder,
    TMPDIR: temporary,
    BIND_HOST: '127.0.0.1',
    GATEWAY_PORT: String(port),
    MINISTACK_REGION: region,
    AUTH: 'true',
    USE_SSL: '1',
    MINISTACK_SSL_CERT: certificates.certificate,
    MINISTACK_SSL_KEY: certificates.key,
    IOT_MTLS_ENABLED: '0',
    // A host without Docker gets one address for every group.
    REDIS_HOST: 'localhost',
    REDIS_PORT: String(options.lockPort),
    DATABASE_ADDRESS: `localhost:${options.databasePort}`,
    MASTER_PASSWORD: options.masterPassword,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'sandbox.ts')}`,
    NODE_EXTRA_CA_CERTS: certificates.authority,
    SHARELOCK_TEST_AUTHORITY: certificates.authority,
  }
  const logFile = join(folder, 'emulator.log')
  const before = ['-i', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`), python]
  const server = startProcess(
    { command: 'env', before, after: [], origin: 'ministack' },
    [join(import.meta.dirname, 'extensions.py')],
    logFile,
  )
  await waitReady('The emulator', server, () => ping(port), logFile, START_TIMEOUT_MS)
  return { url: `https://127.0.0.1:${port}`, logFile, stop: () => stopProcess(server, STOP_GRACE_MS) }
}

/** Answers at all: who it is, the first real call will see. */
const ping = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/_ministack/health', rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve()
    }).once('error', reject)
  })
