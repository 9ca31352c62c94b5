import { runCell } from './cell.ts'
import { combinations } from './matrix.ts'
import { World } from './world.ts'

const [fault, moment] = process.argv.slice(2)
const world = await World.start()
for (const c of combinations({ fault, moment })) {
  const r = await runCell(world, c.fault, c.moment)
  console.log(r.fault, r.moment, '|', r.outcome, Math.round(r.ms), r.violations)
}
await world.stop()
