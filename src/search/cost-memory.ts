/** All units read and billed as a sync does it, into a state that lies in memory and is gone with its answer. */
import type { Replayed } from '../archive/replayed.ts'
import { withoutSessions } from '../sources/call-rows.ts'
import { beginReading } from '../sources/state-readings.ts'
import { settleBills } from '../sources/state-billing.ts'
import { refreshSessions, workingFolders } from '../sources/state-sessions.ts'
import { SCHEMA } from '../sources/state-schema.ts'
import { createReaders } from '../sources/readers.ts'
import type { SessionFacts } from '../sources/session-facts.ts'
import { IN_MEMORY, openDatabase, type Database } from '../sqlite/driver.ts'
import type { CostUnit, UnitFinder } from './cost-units.ts'

export type MemoryState = {
  readonly database: Database
  readonly failed: number
  readonly close: () => void
}

type Reading = {
  readonly recorded: readonly CostUnit[]
  /** Given the files that this program wrote itself. */
  readonly finderFor: (own: ReadonlySet<string>) => UnitFinder
  /** The archive of what was recorded here, and of the others. */
  readonly homes: { readonly recorded: string; readonly others: string }
  readonly cwd: string
  /** Whose logs are believed when they say where else to look. */
  readonly roots: readonly string[]
  /** Keys of sessions that were deleted on purpose. */
  readonly deleted: ReadonlySet<string>
  /** What replays answered, as agents may have logged it. */
  readonly replays: readonly Replayed[]
}

export async function readIntoMemory(reading: Reading): Promise<MemoryState> {
  const { recorded, finderFor, homes, cwd, roots, deleted, replays } = reading
  const database = await openDatabase(IN_MEMORY)
  let failed = 0
  try {
    database.exec(SCHEMA)
    const own = new Set<string>()
    const read = async (units: readonly CostUnit[], home: string): Promise<void> => {
      failed += await readUnits(database, units, { home, deleted, own })
    }
    // They say which files elsewhere are this program's own.
    await read(recorded, homes.recorded)
    const finder = finderFor(own)
    // Sessions say where they were held, and there may be more of them there.
    const looked = new Set<string>()
    for (let folders = [cwd]; folders.length > 0;) {
      for (const folder of folders) looked.add(folder)
      await read(await finder.find(folders), homes.others)
      folders = workingFolders(database, roots).filter((folder) => !looked.has(folder))
    }
    await settleBills(database, (keys) => refreshSessions(database, keys), replays)
    return { database, failed, close: () => database.close() }
  } catch (error) {
    database.close()
    throw error
  }
}

async function readUnits(
  database: Database,
  units: readonly CostUnit[],
  {
    home,
    deleted,
    own,
  }: { readonly home: string; readonly deleted: ReadonlySet<string>; readonly own: Set<string> },
): Promise<number> {
  const readers = await createReaders(units.reduce((sum, { bytes }) => sum + bytes, 0))
  const places = new Map<string, number>()
  const placeOf = ({ agent, root }: CostUnit): number => {
    const name = `${agent}\n${root}`
    const known = places.get(name)
    if (known !== undefined) return known
    database.prepare('INSERT OR IGNORE INTO places (agent, root) VALUES (?, ?)').run(agent, root)
    const row = database.prepare('SELECT id FROM places WHERE agent = ? AND root = ?').get(agent, root)
    places.set(name, Number(row?.['id']))
    return Number(row?.['id'])
  }
  const insert = database.prepare('INSERT INTO units (id, place, path, dirty) VALUES (?, ?, ?, 1)')
  let next = Number(database.prepare('SELECT ifnull(max(id), 0) AS id FROM units').get()?.['id']) + 1
  let failed = 0
  const readOne = async (unit: CostUnit): Promise<void> => {
    const id = next
    next += 1
    insert.run(id, placeOf(unit), unit.unit)
    const reading = beginReading(database, id)
    const { agent, root, paths, bytes } = unit
    const job = { home, agent, root, unit: unit.unit, paths, isKept: false, bytes }
    const left = (sessions: readonly SessionFacts[]): readonly SessionFacts[] =>
      sessions.filter(({ key, session }) => !deleted.has(session.id) && !deleted.has(key))
    const { result, bills } = await readers.read(job, {
      calls: (calls) => reading.calls(withoutSessions(calls, deleted)),
      sessions: (part) => reading.sessions({ ...part, sessions: left(part.sessions) }),
    })
    if (result.type === 'failed') failed += 1
    if (result.type !== 'read') return
    reading.end(result.format, { ...result.facts, sessions: left(result.facts.sessions) }, bills)
    for (const path of result.own ?? []) own.add(path)
  }
  try {
    const waiting = units.toReversed()
    const work = async (): Promise<void> => {
      for (let unit = waiting.pop(); unit !== undefined; unit = waiting.pop()) await readOne(unit)
    }
    await Promise.all(Array.from({ length: readers.width }, work))
    return failed
  } finally {
    await readers.close()
  }
}
