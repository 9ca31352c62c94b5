#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

/* `sharelock`: what operators type. Compiled code is kept between calls, which halves the time until a call answers. */
enableCompileCache()
await import('../operator/command/main.ts')
