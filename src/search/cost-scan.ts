/**
 * Costs from nothing: all logs of the known places read where they lie, on all cores, and nothing written. No archive is needed; what
 * was recorded in the one that is there counts too. The answers are those of a state that a sync of the same logs has made.
 */
import type { Archive } from '../archive/archive.ts'
import { join } from 'node:path'
import { readTombstones } from '../archive/tombstones.ts'
import { PERIODS } from './cost-by.ts'
import { createScannedCalls } from './cost-scanned.ts'
import { scanUnits, type SizedUnit } from './cost-threads.ts'
import { createUnitFinder, recordedUnits, type CostUnit, type Machine } from './cost-units.ts'
import { answerCost, queryCost, type CostAnswer, type CostQuestion } from './cost.ts'

export type Asked = {
  ask(question: CostQuestion): CostAnswer
  /** Units that could not be read. */
  readonly failed: number
  close(): void
}

/** `questions`: all that will be asked are by these. */
export async function scanCost(
  archive: Archive,
  machine: Machine,
  questions: readonly CostQuestion['by'][],
): Promise<Asked> {
  const deleted = new Set(readTombstones(archive.files, archive.home).map(({ session }) => session))
  const isLight = deleted.size === 0 && questions.every((by) => LIGHT.has(by))
  return (isLight ? await scanLight(archive, machine) : undefined) ?? scanWhole(archive, machine, deleted)
}

/** What can be told from calls alone, without who made them or pays. */
const LIGHT: ReadonlySet<CostQuestion['by']> = new Set([...PERIODS, 'block', 'model'])

/** Where no archive is: what was kept of a log before it was rewritten is no part of the log. */
const NOWHERE = 'no-archive'

/** Undefined where bills hang on more than that. */
async function scanLight(archive: Archive, machine: Machine): Promise<Asked | undefined> {
  const calls = createScannedCalls()
  const own = new Set<string>()
  const folders = new Set<string>()
  let failed = 0
  const scan = (units: readonly CostUnit[], home: string): Promise<void> =>
    scanUnits(
      units.map((unit): SizedUnit => ({ ...unit, home })),
      (scanned) => {
        calls.add(scanned.calls, scanned.sessions)
        for (const path of scanned.own ?? []) own.add(path)
        for (const { cwd } of scanned.sessions) if (cwd !== undefined) folders.add(cwd)
        if (scanned.isFailed) failed += 1
      },
    )
  // Journals first: they say which files elsewhere are this program's own.
  await scan(recordedUnits(archive), archive.home)
  const finder = createUnitFinder(archive, machine, own)
  const looked = new Set<string>()
  for (let next = [machine.cwd]; next.length > 0 && calls.isSimple();) {
    for (const folder of next) looked.add(folder)
    await scan(await finder.find(next), join(archive.home, NOWHERE))
    next = [...folders].filter((folder) => !looked.has(folder))
  }
  if (!calls.isSimple()) return undefined
  return {
    failed,
    close: () => {},
    ask: (question) =>
      answerCost(
        {
          parts: (column, bounds, repricing) => {
            const by = column.name === 'at' ? column.characters : 'model'
            return calls.parts(by, bounds, repricing)
          },
          countUndated: () => calls.countUndated(),
        },
        question,
      ),
  }
}

async function scanWhole(archive: Archive, machine: Machine, deleted: ReadonlySet<string>): Promise<Asked> {
  const { readIntoMemory } = await import('./cost-memory.ts')
  const { database, failed, close } = await readIntoMemory({
    recorded: recordedUnits(archive),
    finderFor: (own) => createUnitFinder(archive, machine, own),
    homes: { recorded: archive.home, others: join(archive.home, NOWHERE) },
    cwd: machine.cwd,
    deleted,
  })
  return { failed, close, ask: (question) => queryCost(database, question) }
}
