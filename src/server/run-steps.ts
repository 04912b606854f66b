/** Runs as the archive knows them: their sessions as steps, in the order they began, without secrets. Nothing here reads a log. */
import {
  isRunLog,
  listRuns,
  stepCost,
  uncountedOf,
  subagentsOf,
  toRuns,
  type ListedRun,
} from '../search/runs.ts'
import { toStepNames, type StepNames } from '../formats/swarm-names.ts'
import type { WriteContext } from '../formats/format.ts'
import { createPriceBook, type PriceBook } from '../cost/price-book.ts'
import type { PriceRow } from '../cost/prices.ts'
import { HansardError } from '../errors.ts'
import type { Redactor } from '../redact/redactor.ts'
import { listSessions, type ListedSession } from '../sources/state-sessions.ts'
import type { Database } from '../sqlite/driver.ts'
import { isSafeId, uuidFrom } from '../transcript/ids.ts'
import { millisBetween } from '../transcript/instant.ts'
import { sessionUsage } from '../transcript/session-amounts.ts'
import type { Session } from '../transcript/session.ts'
import { VERSION } from '../version.ts'
import type { RunRow, RunStep } from './api-runs.ts'
import { withoutSecrets } from './rows.ts'

export type FoundStep = {
  /** As the state has it, to read it by. */
  readonly id: string
  readonly session: ListedSession
  readonly step: RunStep
  /** What its files would be called: each name is safe as a part of a path. */
  readonly names: StepNames
  /** Its subagents: in swarm's files further agents of the step, each with a transcript and a receipt. In lower case. */
  readonly agents: readonly string[]
  /** Of an earlier execution under the same names, from 1 on; the newest has none. */
  readonly execution?: number
}

export type FoundRun = {
  readonly row: RunRow
  readonly steps: readonly FoundStep[]
  /** The run's own logs of events. */
  readonly logs: readonly ListedSession[]
}

/** Throws `run-not-found`. `id`: as it is, or as answers call it. */
export function findRun(database: Database, id: string, redactor: Redactor, book?: PriceBook): FoundRun {
  const named = listSessions(database, { run: id })
  const members = named.length > 0 ? named : listSessions(database, { run: realId(database, id, redactor) })
  const [run] = toRuns(members, book)
  if (run === undefined) {
    throw new HansardError(
      'run-not-found',
      `there is no run ${JSON.stringify(redactor.text(id.slice(0, 200)))}`,
      {
        hint: 'GET /api/v1/runs lists them, as does hansard list --runs',
      },
    )
  }
  const steps = members.toReversed().filter((session) => !isRunLog(session))
  return {
    row: toRunRow(run, redactor),
    steps: numbered(
      steps.map((session) => toFoundStep(session, subagentsOf(database, session.id), redactor, book)),
    ),
    logs: members.filter(isRunLog),
  }
}

/** A run that is called by a secret goes by another name outside. */
function realId(database: Database, id: string, redactor: Redactor): string {
  return listRuns(database).find((run) => redactor.id(run.id) === id)?.id ?? id
}

export function toRunRow(run: ListedRun, redactor: Redactor): RunRow {
  const { flow, startedAt, endedAt, usage, cost } = run
  const durationMs = spanOf(startedAt, endedAt)
  const redact = (text: string): string => redactor.text(text)
  return {
    id: redactor.id(run.id),
    ...(flow !== undefined && { flow: redact(flow) }),
    flows: run.flows.map(redact),
    sessions: run.sessions.map((session) => redactor.id(session)),
    steps: run.steps.map(redact),
    status: run.status,
    ...(run.stub && { stub: true }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(durationMs !== undefined && { durationMs }),
    ...(usage && { usage }),
    ...(run.uncounted !== undefined && { uncounted: run.uncounted }),
    cost: { usd: cost.usd, unpriced: cost.unpriced.map(redact) },
    ...(run.isCostEstimated && { isCostEstimated: true }),
  }
}

function toFoundStep(
  listed: ListedSession,
  subagents: readonly string[],
  redactor: Redactor,
  book: PriceBook | undefined,
): FoundStep {
  const session = withoutSecrets(listed, redactor)
  const names = servedNames(session)
  // As the writer of swarm's files names them; others it gives names that only it can tell.
  const isNamed = (id: string): boolean =>
    isSafeId(id) && id.length <= LONGEST_NAME && id !== names.agentKey.toLowerCase() && redactor.id(id) === id
  return { id: listed.id, session, step: toRunStep(session, book), names, agents: subagents.filter(isNamed) }
}

function toRunStep(session: ListedSession, book: PriceBook | undefined): RunStep {
  const { run, totals, model = totals?.models?.[0] } = session
  const title = session.title ?? session.prompt
  const durationMs = spanOf(session.startedAt, session.endedAt)
  const usage = sessionUsage(session)?.usage
  const uncounted = uncountedOf(session)
  const cost = stepCost(session, book)
  return {
    session: session.id,
    ...(title !== undefined && { title: title.slice(0, 300) }),
    ...(run?.flow !== undefined && { flow: run.flow }),
    ...(run?.step !== undefined && { step: run.step }),
    ...(run?.node !== undefined && { node: run.node }),
    ...(run?.agentKey !== undefined && { agentKey: run.agentKey }),
    ...(run?.engine !== undefined && { engine: run.engine }),
    status: session.status,
    ...(session.stub && { stub: true }),
    ...(session.startedAt !== undefined && { startedAt: session.startedAt }),
    ...(session.endedAt !== undefined && { endedAt: session.endedAt }),
    ...(durationMs !== undefined && { durationMs }),
    ...(totals && { entries: totals.entries, toolCalls: totals.toolCalls }),
    ...(session.error !== undefined && { error: session.error.slice(0, 1000) }),
    ...(model !== undefined && { model }),
    ...(usage && { usage }),
    ...(uncounted > 0 && { uncounted }),
    ...(cost && { cost: cost.cost }),
    ...(cost?.isEstimated && { isCostEstimated: true }),
  }
}

const books = new WeakMap<readonly PriceRow[], PriceBook>()

/** With the user's own prices; undefined where there are none. */
export function bookOf({ prices }: { readonly prices?: readonly PriceRow[] }): PriceBook | undefined {
  if (prices === undefined) return undefined
  const book = books.get(prices) ?? createPriceBook(prices)
  books.set(prices, book)
  return book
}

/** What swarm's files say of nothing that is lost or filled in: here nothing is converted for good. */
export const QUIET: WriteContext = { taken: () => false, lost() {}, filled() {}, version: VERSION }

/** With names that are safe in paths, whatever the log called them; two that become one are executions of one step. */
export function safelyNamed<S extends Session>(session: S): S {
  const { run } = session
  if (run === undefined) return session
  const safe = Object.entries(run).map(([name, value]) => [name, safeName(value)] as const)
  return { ...session, run: Object.fromEntries(safe) }
}

function servedNames(session: Session): StepNames {
  return toStepNames(safelyNamed(session), QUIET)
}

/** Three of them and their endings are a file's name. */
const LONGEST_NAME = 64

function safeName(name: string): string {
  if (isSafeId(name) && name.length <= LONGEST_NAME) return name
  const letters = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)
  return `x${letters}-${uuidFrom('name', name).slice(0, 8)}`
}

/** As set aside on disk: the newest has the plain name, the others are counted from the first. */
function numbered(steps: readonly FoundStep[]): readonly FoundStep[] {
  const keyOf = ({ names }: FoundStep): string => JSON.stringify(names)
  const left = new Map<string, number>()
  for (const step of steps) left.set(keyOf(step), (left.get(keyOf(step)) ?? 0) + 1)
  const seen = new Map<string, number>()
  return steps.map((step) => {
    const key = keyOf(step)
    const execution = (seen.get(key) ?? 0) + 1
    seen.set(key, execution)
    return execution === left.get(key) ? step : { ...step, execution }
  })
}

function spanOf(startedAt: string | undefined, endedAt: string | undefined): number | undefined {
  if (startedAt === undefined || endedAt === undefined) return undefined
  const ms = millisBetween(startedAt, endedAt)
  return ms === undefined ? undefined : Math.max(0, ms)
}
