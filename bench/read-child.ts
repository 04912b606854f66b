/** A process that reads one file to its end, as the format that it is in, and says what was in it and how much memory that took. */
import { identify } from '../src/sources/detect.ts'
import { allFormats } from '../src/sources/formats.ts'
import { openSource } from '../src/sources/open.ts'
import { peakMb } from './peak-memory.ts'

export type ReadReport = {
  readonly format: string
  readonly sessions: number
  readonly entries: number
  readonly damage: number
  readonly peakMb: number
}

const source = await openSource(process.argv[2] ?? '')
const { format } = await identify(source, { formats: allFormats })
const ids = new Set<string>()
let entries = 0
let damage = source.damage().length
for await (const items of format.read(source)) {
  for (const item of items) {
    if (item.type === 'session') ids.add(item.session.id)
    else if (item.type === 'entry') entries += 1
    else damage += 1
  }
}
const report: ReadReport = {
  format: format.id,
  sessions: ids.size,
  entries,
  damage,
  peakMb: peakMb(),
}
process.stdout.write(JSON.stringify(report))
