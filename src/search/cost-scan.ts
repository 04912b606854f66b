/**
 * Costs from nothing: all logs of the known places read where they lie, on all cores, and nothing written. No archive is needed; what
 * was recorded in the one that is there counts too. The answers are those of a state that a sync of the same logs has made.
 */
import type { Archive } from '../archive/archive.ts'
import { join } from 'node:path'
import { readTombstones } from '../archive/tombstones.ts'
import { PERIODS } from './cost-by.ts'
import { createCalendar } from './cost-calendar.ts'
import { isOfHalfHours } from './cost-parts.ts'
import { createScannedCalls } from './cost-scanned.ts'
import { createThreads, type Threads } from './cost-threads.ts'
import type { SizedUnit } from './cost-work.ts'
import { createUnitFinder, recordedUnits, type CostUnit, type Machine } from './cost-units.ts'
import { answerCost, queryCost, type CostAnswer, type CostQuestion } from './cost.ts'

export type Asked = {
  ask(question: CostQuestion): CostAnswer
  /** Units that could not be read. */
  readonly failed: number
  close(): void
}

/** `questions`: what will be asked, and nothing else. */
export async function scanCost(
  archive: Archive,
  machine: Machine,
  questions: readonly CostQuestion[],
): Promise<Asked> {
  const deleted = new Set(readTombstones(archive.files, archive.home).map(({ session }) => session))
  const isLight = deleted.size === 0 && questions.every(({ by }) => LIGHT.has(by))
  const light = isLight ? await scanOnThreads(archive, machine, questions.some(isDetailed)) : undefined
  return light ?? scanWhole(archive, machine, deleted)
}

/** What can be told from calls alone, without who made them or pays. */
const LIGHT: ReadonlySet<CostQuestion['by']> = new Set([...PERIODS, 'block', 'model'])

/** True for one that half hours do not answer. */
function isDetailed({ by, utc = false, repricing, ...bounds }: CostQuestion): boolean {
  if (repricing !== undefined || !isOfHalfHours(bounds)) return true
  return PERIODS.some((period) => period === by) && !createCalendar(utc).isOfHalfHours
}

/** Where no archive is: what was kept of a log before it was rewritten is no part of the log. */
const NOWHERE = 'no-archive'

/** Undefined where bills hang on more than that. */
async function scanOnThreads(
  archive: Archive,
  machine: Machine,
  isDetailed: boolean,
): Promise<Asked | undefined> {
  const threads = createThreads()
  try {
    return await scanLight(archive, machine, { isDetailed, threads })
  } finally {
    threads.close()
  }
}

async function scanLight(
  archive: Archive,
  machine: Machine,
  { isDetailed, threads }: { readonly isDetailed: boolean; readonly threads: Threads },
): Promise<Asked | undefined> {
  const calls = createScannedCalls()
  const own = new Set<string>()
  const folders = new Set<string>()
  const all: SizedUnit[] = []
  let failed = 0
  const scan = (units: readonly SizedUnit[]): Promise<void> =>
    threads.scan(units, (number, { scanned, sessions, own: written = [], isFailed }) => {
      calls.add(number, scanned, sessions)
      for (const path of written) own.add(path)
      for (const { cwd } of sessions) if (cwd !== undefined) folders.add(cwd)
      if (isFailed) failed += 1
    })
  const scanNew = (units: readonly CostUnit[], home: string): Promise<void> => {
    const numbered = units.map((unit, n): SizedUnit => ({
      ...unit,
      home,
      isDetailed,
      number: all.length + n,
    }))
    // One by one: there may be more of them than a function takes arguments.
    for (const unit of numbered) all.push(unit)
    return scan(numbered)
  }
  // Journals first: they say which files elsewhere are this program's own.
  await scanNew(recordedUnits(archive), archive.home)
  const finder = createUnitFinder(archive, machine, own, (bytes) => threads.expect(bytes))
  const looked = new Set<string>()
  for (let next = [machine.cwd]; next.length > 0 && calls.isSimple();) {
    for (const folder of next) looked.add(folder)
    await scanNew(await finder.find(next), join(archive.home, NOWHERE))
    next = [...folders].filter((folder) => !looked.has(folder))
  }
  if (!calls.isSimple()) return undefined
  // What several logs mention is told apart, and only that.
  const mixed = calls.mixed().flatMap((number) => all[number] ?? [])
  await scan(mixed.map((unit) => ({ ...unit, isDetailed: true })))
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
