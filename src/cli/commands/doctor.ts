/** `hansard doctor`: what is kept, what could not be read, what agents write that is new here, and what they are about to delete. */
import fs from 'node:fs'
import os from 'node:os'
import { openArchive, type Archive } from '../../archive/archive.ts'
import { readFailures, type HookFailure } from '../../capture/hooks/failures.ts'
import { isAtWork, waitingTickets } from '../../capture/hooks/queue.ts'
import { toBytes } from '../../replay/amounts.ts'
import { counted, toCount } from '../../transcript/counted.ts'
import { visibleLine } from '../../replay/escape.ts'
import { MOST, readHealth, type Health } from '../../sources/health.ts'
import { findLost, takeAgain, withoutLost, type LostCopy } from '../../sources/kept-health.ts'
import { purgeWarnings, type PurgeWarning } from '../../sources/purge.ts'
import type { OnProblem } from '../../sources/walk.ts'
import { stateCondition, type StateCondition } from '../../sources/state-condition.ts'
import { peekState, type State } from '../../sources/state.ts'
import { isDamagedDatabase } from '../../sqlite/errors.ts'
import { coloursFor, type Style } from '../colour.ts'
import { loadConfig } from '../config.ts'
import { note, out, outJson } from '../print.ts'
import { toTable, type Cell, type Column } from '../table.ts'
import { stdout } from '../streams.ts'

export type DoctorOptions = { readonly home?: string; readonly json?: boolean }

export async function doctor(options: DoctorOptions): Promise<void> {
  const config = await loadConfig(options)
  const archive = openArchive(config.home)
  const state = await peekState(archive)
  try {
    const { health, condition, lost } = await examine(archive, state)
    const isNoted = await takeAgain(archive.home, lost)
    const onProblem: OnProblem = (path, { reason }) =>
      note(`hansard: ${path} is ${reason}: when its agent deletes its logs is not known`)
    const purges = purgeWarnings(process.env, os.homedir(), { onProblem })
    const disk = diskOf(archive.home)
    const hooks = {
      waiting: waitingTickets(archive.home),
      atWork: isAtWork(archive.home),
      failures: readFailures(archive.home),
    }
    if (options.json) {
      return await outJson({
        home: archive.home,
        layout: archive.readOnly ? 'newer' : 'current',
        disk,
        state: condition,
        ...(health && withLost(health, lost)),
        purges,
        hooks,
      })
    }
    await out(`archive ${archive.home}${archive.readOnly ? ', newer than this program: only read' : ''}\n`)
    if (disk !== undefined) await out(`disk    ${toBytes(disk.free)} of ${toBytes(disk.total)} free\n`)
    if (health === undefined) note(`hansard: ${WITHOUT[condition]}`)
    else await print(health)
    await printLost(lost, isNoted)
    await printPurges(purges)
    await printHooks(hooks)
  } finally {
    state?.close()
  }
}

const WITHOUT: Readonly<Record<StateCondition, string>> = {
  current: 'what was synced cannot be looked at now: run the command again',
  none: 'nothing was synced yet: hansard sync',
  'other-version':
    'index/state.db is of another version of this program; hansard sync builds it anew from what is kept',
  damaged: 'index/state.db is damaged, or no database; hansard sync builds it anew from what is kept',
}

type Examined = {
  readonly health: Health | undefined
  readonly condition: StateCondition
  readonly lost: Awaited<ReturnType<typeof findLost>>
}

async function examine(archive: Archive, state: State | undefined): Promise<Examined> {
  if (state === undefined) return { health: undefined, condition: await stateCondition(archive), lost: [] }
  try {
    const health = readHealth(state.database)
    const lost = await findLost(archive, state.database)
    return { health: { ...health, places: withoutLost(health.places, lost) }, condition: 'current', lost }
  } catch (error) {
    // Damage further in shows when it is asked about.
    if (!isDamagedDatabase(error)) throw error
    return { health: undefined, condition: 'damaged', lost: [] }
  }
}

type Disk = { readonly free: number; readonly total: number }

function diskOf(home: string): Disk | undefined {
  try {
    const { bsize, blocks, bavail } = fs.statfsSync(home)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch {
    return undefined
  }
}

const PLACE_COLUMNS: readonly Column[] = [
  { name: 'AGENT', cutLast: true },
  { name: 'FILES', align: 'right' },
  { name: 'KEPT', align: 'right' },
  { name: 'PENDING', align: 'right', rank: 1 },
  { name: 'FAILED', align: 'right', rank: 1 },
  { name: 'WHERE', cut: 'start', least: 12 },
]

const DRIFT_COLUMNS: readonly Column[] = [
  { name: 'FORMAT', cutLast: true },
  { name: 'VERSION', rank: 2 },
  { name: 'KIND', rank: 1 },
  { name: 'NAME', cutLast: true },
  { name: 'TIMES', align: 'right' },
  { name: 'FILES', align: 'right', rank: 3 },
]

async function print({ places, failed, unreadable, damaged, drift, totals }: Health): Promise<void> {
  await printTitle('Places')
  const rows = places.map(({ agent, root, files, kept, pending, failed }) => [
    agent,
    toCount(files),
    toBytes(kept),
    worry(pending, 'yellow'),
    worry(failed, 'red'),
    root,
  ])
  await out(toTable(PLACE_COLUMNS, rows))
  await printMore(totals.places - places.length)
  await printList('Not taken in', failed, totals.failed, ({ file, problem }) => `${file}: ${problem}`)
  await printList('Not read', unreadable, totals.unreadable, ({ file, problem }) => `${file}: ${problem}`)
  await printList(
    'Damage',
    damaged,
    totals.damaged,
    ({ file, damage }) => `${file}: ${counted(damage, 'damaged record')}`,
  )
  if (drift.length === 0)
    return printTitle('Drift', ': none; every record, key and block that agents wrote is known here')
  await printTitle('Drift', ': what agents wrote that is new here; it is kept, and shown as it is')
  const drifted = drift.map(({ format, version = '?', kind, name, count, units }) => [
    format,
    version,
    kind,
    name,
    toCount(count),
    toCount(units),
  ])
  await out(toTable(DRIFT_COLUMNS, drifted))
  await printMore(totals.drift - drift.length)
}

/** A number that should be 0 stands out when it is not. */
function worry(count: number, style: Style): Cell {
  return count === 0 ? toCount(count) : { text: toCount(count), style }
}

async function printTitle(title: string, more = ''): Promise<void> {
  await out(`\n${coloursFor(stdout).bold(title)}${more}\n`)
}

const SHOWN = 20

/** `total`: how many there are; `all` may be only the first of them. */
async function printList<T>(
  title: string,
  all: readonly T[],
  total: number,
  toText: (one: T) => string,
): Promise<void> {
  if (all.length === 0) return
  await printTitle(title)
  for (const one of all.slice(0, SHOWN)) await out(`  ${visibleLine(toText(one))}\n`)
  const more = total > MOST ? `--json has the first ${toCount(MOST)}` : '--json has them all'
  if (total > SHOWN) await out(`  and ${toCount(total - SHOWN)} more; ${more}\n`)
}

async function printMore(count: number): Promise<void> {
  if (count > 0) await out(`  and ${toCount(count)} more\n`)
}

function withLost(health: Health, lost: readonly LostCopy[]): object {
  return {
    ...health,
    lost: lost.map(({ file, problem, source }) => ({ file, problem, source })),
    totals: { ...health.totals, lost: lost.length },
  }
}

/** `isNoted`: for the next sync. */
async function printLost(lost: readonly LostCopy[], isNoted: boolean): Promise<void> {
  await printList(
    'Kept copies that are not what they were',
    lost,
    lost.length,
    ({ file, problem, source }) => {
      const what = problem === 'missing' ? 'deleted' : 'cut'
      return `${file}: its copy was ${what}${source === 'gone' ? ', and there is no source to take it in from again' : ''}`
    },
  )
  if (lost.every(({ source }) => source === 'gone')) return
  await out(
    isNoted
      ? '  hansard sync takes in again what has a source\n'
      : '  hansard sync can take in again what has a source: run doctor once more when no other is at work\n',
  )
}

async function printPurges(purges: readonly PurgeWarning[]): Promise<void> {
  await printList(
    'Deleted by agents themselves',
    purges,
    purges.length,
    ({ agent, reason }) => `${agent}: ${reason}`,
  )
}

type Hooks = {
  readonly waiting: number
  readonly atWork: boolean
  readonly failures: readonly HookFailure[]
}

/** The newest first; what waits while nobody is at work waits for the next hook, or for a sync. */
async function printHooks({ waiting, atWork, failures }: Hooks): Promise<void> {
  if (waiting > 0 && !atWork)
    await printTitle(
      'Hooks',
      `: ${counted(waiting, 'session')} to sync: by the next hook, or by hansard sync`,
    )
  await printList(
    'Hooks that failed',
    failures.toReversed(),
    failures.length,
    ({ at, agent, problem }) => `${at} ${agent}: ${problem}`,
  )
}
