import { writeFileSync } from 'node:fs'
import { scalePage } from '../infra/scale/page.ts'

/** Writes docs/scale.md, which a test compares with the code. */
writeFileSync('docs/scale.md', scalePage())
