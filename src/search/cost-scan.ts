/**
 * Costs without an archive: all logs of the known places are read where they lie, and nothing is written. What was recorded in the
 * archive that is there counts too. The answers are those of a state that a sync of the same logs has made.
 */
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { PLACED } from '../formats/places.ts'
import { ownRoots } from '../sources/places.ts'
import { readReplayed } from '../archive/replayed.ts'
import { readTombstones } from '../archive/tombstones.ts'
import { readIntoMemory } from './cost-memory.ts'
import { createUnitFinder, recordedUnits, type Machine } from './cost-units.ts'
import { queryCost, type CostAnswer, type CostQuestion } from './cost.ts'

export type Asked = {
  ask(question: CostQuestion): CostAnswer
  /** Units that could not be read. */
  readonly failed: number
  close(): void
}

/** Where no archive is: what was kept of a log before it was rewritten is no part of the log. */
const NOWHERE = 'no-archive'

export async function scanCost(archive: Archive, machine: Machine): Promise<Asked> {
  const { database, failed, close } = await readIntoMemory({
    recorded: recordedUnits(archive),
    finderFor: (own) => createUnitFinder(archive, machine, own),
    homes: { recorded: archive.home, others: join(archive.home, NOWHERE) },
    cwd: machine.cwd,
    roots: ownRoots(PLACED, machine),
    replays: readReplayed(archive.files, archive.home),
    deleted: new Set(readTombstones(archive.files, archive.home).map(({ session }) => session)),
  })
  return { failed, close, ask: (question) => queryCost(database, question) }
}
