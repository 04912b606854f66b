/** `hansard list`: the sessions of the archive, newest first, or the runs they belong to. */
import { openArchive, type Archive } from '../../archive/archive.ts'
import { readFacts } from '../../archive/facts.ts'
import { isHansardError } from '../../errors.ts'
import { sessionCost, sessionTokens, toCount } from '../../replay/amounts.ts'
import { createClock } from '../../replay/clock.ts'
import { cut, visibleLine } from '../../replay/escape.ts'
import { toJson } from '../../transcript/json.ts'
import type { Session, Status } from '../../transcript/session.ts'
import { loadConfig } from '../config.ts'
import { FAILED, note, out } from '../print.ts'
import { toRuns, type ListedRun } from '../runs.ts'

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
  const { sessions, total } = await findSessions(openArchive(home), options)
  const zone = utc ? 'UTC' : undefined
  if (options.runs) {
    const runs = toRuns(sessions)
    const shown = runs.slice(0, options.limit)
    if (options.json) await out(`${toJson({ runs: shown, total: runs.length })}\n`)
    else await printRuns(shown, runs.length, zone)
  } else if (options.json) await out(`${toJson({ sessions: sessions.map(toRow), total })}\n`)
  else await printSessions(sessions, total, zone)
}

/** Facts are read only of the sessions that are shown, unless a filter has to look at all of them. */
async function findSessions(
  archive: Archive,
  { limit = Number.POSITIVE_INFINITY, status, flow, run, runs }: ListOptions,
): Promise<{ readonly sessions: readonly Session[]; readonly total: number }> {
  const ids = archive.ids().filter((id) => archive.segments(id).length > 0)
  const readsAll = runs === true || status !== undefined || flow !== undefined || run !== undefined
  const sessions: Session[] = []
  for (const id of readsAll ? ids : ids.slice(0, limit)) {
    const session = await readOne(archive, id)
    if (session === undefined) continue
    if (status !== undefined && session.status !== status) continue
    if (flow !== undefined && session.run?.flow !== flow) continue
    if (run !== undefined && session.run?.id !== run) continue
    sessions.push(session)
  }
  if (runs) return { sessions, total: sessions.length }
  return { sessions: sessions.slice(0, limit), total: readsAll ? sessions.length : ids.length }
}

/** A session that cannot be read is told of, and does not keep the others from being listed. */
async function readOne(archive: Archive, id: string): Promise<Session | undefined> {
  try {
    return (await readFacts(archive, id)).session
  } catch (error) {
    if (!isHansardError(error)) throw error
    process.exitCode = FAILED
    note(`hansard: ${id} cannot be read: ${error.message}`)
    return undefined
  }
}

function toRow(session: Session): object {
  const { id, title, agent, model, cwd, run, startedAt, endedAt, status, totals } = session
  return {
    id,
    title,
    agent,
    models: totals?.models ?? (model === undefined ? [] : [model]),
    cwd,
    run: run?.id,
    flow: run?.flow,
    step: run?.step,
    startedAt,
    endedAt,
    status,
    entries: totals?.entries,
    toolCalls: totals?.toolCalls,
    usage: totals?.usage,
    cost: totals?.cost,
  }
}

const ID_WIDTH = 36
const STATUS_WIDTH = 12

async function printSessions(sessions: readonly Session[], total: number, zone?: string): Promise<void> {
  if (total === 0) return note('No sessions found.')
  const clock = createClock(zone)
  const head = ['SESSION'.padEnd(ID_WIDTH), 'STATUS'.padEnd(STATUS_WIDTH), 'STARTED'.padEnd(19), 'ENTRIES']
  await out(`${[...head, 'TOKENS', 'COST', 'WHAT'].join('  ')}\n`)
  for (const session of sessions) {
    const tokens = sessionTokens(session)
    const cells = [
      session.id.padEnd(ID_WIDTH),
      session.status.padEnd(STATUS_WIDTH),
      clock.date(session.startedAt).padEnd(19),
      toCount(session.totals?.entries).padStart(7),
      `${toCount(tokens.in)}/${toCount(tokens.out)}`,
      sessionCost(session),
      cut(what(session), 60),
    ]
    await out(`${visibleLine(cells.join('  '))}\n`)
  }
  note(`Total: ${total} sessions`)
}

async function printRuns(runs: readonly ListedRun[], total: number, zone?: string): Promise<void> {
  if (total === 0) return note('No runs found.')
  const clock = createClock(zone)
  await out(
    `${['RUN ID'.padEnd(40), 'STATUS'.padEnd(STATUS_WIDTH), 'STARTED'.padEnd(19), 'STEPS', 'COST'].join('  ')}\n`,
  )
  for (const { id, status, startedAt, sessions, cost } of runs) {
    const started = clock.date(startedAt).padEnd(19)
    const spent = sessionCost({
      id,
      status,
      ...(cost && { totals: { entries: 0, toolCalls: 0, calls: 0, cost } }),
    })
    const cells = [
      id.padEnd(40),
      status.padEnd(STATUS_WIDTH),
      started,
      String(sessions.length).padStart(5),
      spent,
    ]
    await out(`${visibleLine(cells.join('  '))}\n`)
  }
  note(`Total: ${total} runs`)
}

function what({ title, run, agent }: Session): string {
  return title ?? [run?.flow, run?.step, agent].filter((part) => part !== undefined).join(' ')
}
