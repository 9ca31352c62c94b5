import { buildProgram } from './program.ts'
import { runProgram } from './run-program.ts'

/* Runs the command line. Each command is in a file of this folder, what it does in operator/operations/. */
await runProgram(buildProgram())
