/**
 * The fallback: any JSON, JSON Lines or text as unknown entries, one for each record, so that nothing is ever out of reach. Taken
 * only when it is asked for: it would recognise everything.
 */
import { PRIMARY, createSequence } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import type { Format, ReadItem } from './format.ts'
import { readRawRecords } from './raw-records.ts'
import { oversizedEntry, unknownEntry } from './unknown.ts'

const ID = 'raw'

export const raw: Format = {
  id: ID,
  title: 'Raw: any JSON, JSON Lines or text, record by record',
  detect: async () => undefined,
  async *read(source) {
    for (const file of await source.list()) {
      const nextSequence = createSequence()
      const session = { id: uuidFrom(ID, file.path), status: 'completed' } as const
      yield [{ type: 'session', session }]
      const place = () => ({ format: ID, file: file.path, source: PRIMARY, sequence: nextSequence(PRIMARY) })
      for await (const { records, damage } of readRawRecords(file)) {
        const items: ReadItem[] = []
        for (const record of records) {
          items.push({ type: 'entry', entry: unknownEntry(record.value, place(), record) })
        }
        for (const one of damage) {
          items.push({ type: 'damage', damage: one })
          if (one.kind === 'too-large') items.push({ type: 'entry', entry: oversizedEntry(one, place()) })
        }
        yield items
      }
    }
  },
}
