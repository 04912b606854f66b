/** One way to go through a database, in a process of its own, so that what it held at most is its own: `{ ms, cpuMs, peakMb, count }` on stdout. */
import { exportRows, openRows } from '../src/archive/kept-rows.ts'
import { readDatabase } from '../src/formats/opencode-database.ts'
import { OPENCODE_ROWS } from '../src/formats/places.ts'
import { nodeFiles } from '../src/journal/files.ts'
import { openSourceDatabase } from '../src/sources/database.ts'
import { openDatabase } from '../src/sqlite/driver.ts'
import type { SourceDatabase, SourceFile } from '../src/transcript/source.ts'
import { peakMb } from './peak-memory.ts'

export type Done = {
  readonly ms: number
  readonly cpuMs: number
  readonly peakMb: number
  readonly count: number
}

const [way = '', db = '', kept = ''] = process.argv.slice(2)

/** How many entries, or rows, there were. */
const WAYS: Readonly<Record<string, () => Promise<number>>> = {
  async bare() {
    const database = await openDatabase(db, { mode: 'read-only' })
    let count = 0
    for (const table of ['message', 'part']) {
      for (const { data } of database.prepare(`SELECT data FROM ${table}`).iterate()) {
        JSON.parse(data as string)
        count += 1
      }
    }
    database.close()
    return count
  },
  read: () => readAll(openSourceDatabase(db, fail)),
  load: () => readAll(openRows(nodeFiles, kept, ({ reason }) => fail('kept', reason))),
  async export() {
    const database = await openSourceDatabase(db, fail)
    const { changed } = await exportRows(nodeFiles, kept, database, OPENCODE_ROWS)
    await database.close()
    return changed
  },
}

const started = performance.now()
const before = process.cpuUsage()
const count = (await WAYS[way]?.()) ?? fail('way', way)
const { user, system } = process.cpuUsage(before)
const done: Done = { ms: performance.now() - started, cpuMs: (user + system) / 1000, peakMb: peakMb(), count }
console.log(JSON.stringify(done))

async function readAll(opened: Promise<SourceDatabase>): Promise<number> {
  const file: SourceFile = {
    path: 'opencode.db',
    sizeBytes: 0,
    modifiedAt: '',
    head: async () => Buffer.alloc(0),
    async *chunks() {},
    bytes: async () => Buffer.alloc(0),
    database: () => opened,
  }
  let entries = 0
  for await (const items of readDatabase(file, {
    agent: 'opencode',
    taken: new Set(),
    spawned: new Map(),
    drift: undefined,
  }))
    for (const item of items) if (item.type === 'entry') entries += 1
  return entries
}

function fail(kind: string, reason: string): never {
  throw new Error(`${kind}: ${reason}`)
}
