import { files, type Section, unit } from './section.ts'

/** The sections of what reads a file, see section.ts. */
export const STAGING_SECTIONS: readonly Section[] = [
  {
    name: 'staging-rows',
    mutate: files('job/staging', 'check-rows', 'cut-chunks', 'isrc-number', 'row-table', 'sort-order'),
    tests: unit('job/staging', 'rows', 'rows-together'),
    servers: false,
  },
  {
    name: 'staging-records',
    mutate: files('job/staging', 'csv-records', 'source-errors', 'source-reader', 'read-source'),
    tests: unit(
      'job/staging',
      'errors',
      'records',
      'report',
      'bounds',
      'rows',
      'rows-together',
      'profile',
      'parts',
      'encoding',
      'cp949',
      'gzip',
    ),
    servers: false,
  },
  {
    name: 'staging-encoding',
    mutate: files('job/staging', 'source-encoding'),
    tests: unit('job/staging', 'encoding', 'cp949', 'gzip', 'records', 'report'),
    servers: false,
  },
  {
    name: 'staging-containers',
    mutate: files('job/staging/containers', 'byte-stream', 'gunzip', 'open-file', 'signatures', 'zip-archive'),
    tests: unit('job/staging', 'containers', 'gzip', 'bounds'),
    servers: false,
  },
  {
    name: 'staging-sheets',
    mutate: [
      ...files('job/staging/sheet', 'cell-value', 'number-styles', 'read-sheet', 'shared-strings', 'sheet-rows'),
      ...files('job/staging/sheet', 'workbook', 'xml'),
      ...files('job/staging', 'sheet-records', 'file-records', 'cell-refusal', 'formula-text'),
    ],
    tests: unit('job/staging', 'sheet', 'sentences', 'decoders/decoders'),
    servers: false,
  },
  {
    name: 'staging-store',
    mutate: [
      ...files('job/staging', 'make-staged', 'judge-staged'),
      ...files('store/s3', 'objects', 'staged', 'uploaded', 'write-staged'),
    ],
    tests: unit('job/staging', 'make-staged', 'staged-again', 'storage-outage', 'holes'),
    servers: false,
  },
]
