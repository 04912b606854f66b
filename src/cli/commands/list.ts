/** `hansard list`: the sessions of the archive, newest first, or the runs they belong to. */
import { openArchive, type Archive } from '../../archive/archive.ts'
import { counted, sessionTokens, toCount, toDollars, toPrice } from '../../replay/amounts.ts'
import { createClock, type Clock } from '../../replay/clock.ts'
import { cut } from '../../replay/escape.ts'
import { withSessions } from '../../sources/sessions.ts'
import type { ListedSession } from '../../sources/state-sessions.ts'
import type { Status } from '../../transcript/session.ts'
import { loadConfig } from '../config.ts'
import { FAILED, note, out, outJson } from '../print.ts'
import { toRuns, type ListedRun } from '../runs.ts'
import { toTable, type Column } from '../table.ts'

export type ListOptions = {
  readonly limit?: number
  readonly status?: Status
  readonly flow?: string
  readonly run?: string
  readonly runs?: boolean
  readonly utc?: boolean
  readonly home?: string
  readonly json?: boolean
}

export async function list(options: ListOptions): Promise<void> {
  const { home, utc } = await loadConfig(options)
  const archive = openArchive(home)
  const found = await findSessions(archive, options)
  const clock = createClock(utc ? 'UTC' : undefined)
  if (options.runs) {
    const runs = toRuns(found.sessions)
    const shown = runs.slice(0, options.limit)
    if (options.json) await outJson({ runs: shown, total: runs.length })
    else await printRuns(shown, runs.length, clock, archive.home)
  } else if (options.json) await outJson({ sessions: found.sessions.map(toRow), total: found.total })
  else await printSessions(found, clock, archive.home)
}

type Found = { readonly sessions: readonly ListedSession[]; readonly total: number }

async function findSessions(archive: Archive, options: ListOptions): Promise<Found> {
  const { limit, status, flow, run, runs } = options
  return withSessions(archive.home, (opened) => {
    if (!opened.isCaughtUp)
      note(
        `hansard: ${archive.home} cannot be brought up to date now: what another program wrote last may be missing`,
      )
    for (const { id, message } of opened.unreadable) {
      process.exitCode = FAILED
      note(`hansard: ${id} cannot be read: ${message}`)
    }
    const filter = {
      ...(status && { status }),
      ...(flow !== undefined && { flow }),
      ...(run !== undefined && { run }),
    }
    return opened.list({ ...filter, ...(limit !== undefined && !runs && { limit }) })
  })
}

function toRow(session: ListedSession): object {
  const { id, title, prompt, agent, model, cwd, run, startedAt, endedAt, status, parent, totals } = session
  return {
    id,
    title,
    prompt,
    agent,
    models: totals?.models ?? (model === undefined ? [] : [model]),
    cwd,
    run: run?.id,
    flow: run?.flow,
    step: run?.step,
    startedAt,
    endedAt,
    status,
    parent,
    entries: totals?.entries,
    toolCalls: totals?.toolCalls,
    calls: totals?.calls,
    uncounted: totals?.uncounted,
    usage: totals?.usage,
    cost: totals?.cost,
  }
}

const SESSION_COLUMNS: readonly Column[] = [
  { name: 'SESSION' },
  { name: 'STATUS' },
  { name: 'STARTED' },
  { name: 'ENTRIES', align: 'right' },
  { name: 'TOKENS IN', align: 'right' },
  { name: 'OUT', align: 'right' },
  { name: 'COST', align: 'right' },
  { name: 'WHAT' },
]

async function printSessions({ sessions, total }: Found, clock: Clock, home: string): Promise<void> {
  if (total === 0) return note(`no sessions in ${home}`)
  const rows = sessions.map((session) => {
    const tokens = sessionTokens(session)
    return [
      session.id,
      session.status,
      clock.date(session.startedAt),
      toCount(session.totals?.entries),
      toCount(tokens.in),
      toCount(tokens.out),
      shortCost(session),
      cut(what(session), 60),
    ]
  })
  await out(toTable(SESSION_COLUMNS, rows))
  note(ofAll(sessions.length, total, 'session'))
}

const RUN_COLUMNS: readonly Column[] = [
  { name: 'RUN' },
  { name: 'STATUS' },
  { name: 'STARTED' },
  { name: 'SESSIONS', align: 'right' },
  { name: 'COST', align: 'right' },
]

async function printRuns(
  runs: readonly ListedRun[],
  total: number,
  clock: Clock,
  home: string,
): Promise<void> {
  if (total === 0) return note(`no runs in ${home}`)
  const rows = runs.map(({ id, status, startedAt, sessions, cost }) => {
    return [id, status, clock.date(startedAt), toCount(sessions.length), toPrice(cost)]
  })
  await out(toTable(RUN_COLUMNS, rows))
  note(ofAll(runs.length, total, 'run'))
}

function ofAll(shown: number, total: number, one: string): string {
  return shown === total ? counted(total, one) : `${toCount(shown)} of ${counted(total, one)}`
}

/** For a column: what is missing from it, and why, `show` says. */
function shortCost({ reportedCost, totals }: ListedSession): string {
  if (reportedCost !== undefined) return toDollars(reportedCost)
  const { usd, unpriced } = totals?.cost ?? { usd: null, unpriced: [] }
  if (usd === null) return 'unknown'
  return unpriced.length > 0 ? `≥ ${toDollars(usd)}` : toDollars(usd)
}

function what({ title, prompt, run, agent }: ListedSession): string {
  if (run?.flow === undefined) return title ?? prompt ?? agent ?? ''
  return title ?? [run?.flow, run?.step, agent].filter((part) => part !== undefined).join(' ')
}
