/** `hansard list`: the sessions of the archive that are asked for, in an order, page by page, or the runs they belong to. */
import { openArchive, type Archive } from '../../archive/archive.ts'
import { createClock } from '../../replay/clock.ts'
import { querySessions, type SessionQuestion } from '../../search/sessions.ts'
import type { SessionSort } from '../../search/session-sorts.ts'
import { all, flagsFilter, OF_A_RUN, type SessionFilter } from '../../search/session-where.ts'
import type { State } from '../../sources/state.ts'
import { unlistedIds } from '../../sources/unlisted-ids.ts'
import { withState } from '../../sources/with-state.ts'
import type { Session, Status } from '../../transcript/session.ts'
import { loadConfig } from '../config.ts'
import { toListedRow, type RowSession } from '../../search/session-row.ts'
import { printRuns, printSessions, type ListedPage } from '../list-page.ts'
import { FAILED, note, out, outJson, printableJson, printError, WRONG_USAGE } from '../print.ts'
import { toRuns } from '../../search/runs.ts'
import { nextTurn } from '../../transcript/next-turn.ts'

export type ListOptions = {
  readonly sort?: SessionSort
  readonly reverse?: boolean
  readonly limit?: number
  readonly offset?: number
  readonly after?: string
  readonly status?: Status
  readonly flow?: string
  readonly run?: string
  readonly since?: string
  readonly until?: string
  readonly runs?: boolean
  readonly utc?: boolean
  readonly home?: string
  readonly json?: boolean
}

/** On a terminal, unless more is asked for. */
const LIMIT = 50

export async function list(words: readonly string[], options: ListOptions): Promise<void> {
  const { home, utc = false } = await loadConfig(options)
  const filter = await filterOf(words, options, utc)
  if (filter === undefined) return
  const archive = openArchive(home)
  const clock = createClock(utc ? 'UTC' : undefined)
  const { runs, json, limit, offset, after, sort, reverse } = options
  const question: SessionQuestion = {
    filter,
    ...(sort && { sort }),
    ...(reverse && { reverse }),
    ...(offset !== undefined && { offset }),
    ...(after !== undefined && { after }),
  }
  if (runs) {
    const { page } = await find(archive, options, words, { filter: all([filter, OF_A_RUN]) })
    const found = toRuns(page.sessions)
    const shown = found.slice(offset ?? 0).slice(0, limit)
    if (json) await outJson({ runs: shown, total: found.length })
    else await printRuns(shown, found.length, clock, archive.home)
    return
  }
  if (json) {
    await printJson(archive, options, words, { ...question, ...(limit !== undefined && { limit }) })
    return
  }
  const { page } = await find(archive, options, words, { ...question, limit: limit ?? LIMIT })
  await printSessions(page, { clock, home: archive.home, offset: offset ?? 0, isAfter: after !== undefined })
}

/** What is asked for, words and flags together; undefined when it was said what is wrong with it. */
export async function filterOf(
  words: readonly string[],
  options: Pick<ListOptions, 'status' | 'flow' | 'run' | 'since' | 'until' | 'json'>,
  utc: boolean,
): Promise<SessionFilter | undefined> {
  try {
    const { status, flow, run } = options
    const [since, until] = await Promise.all([
      toInstant('since', options, utc),
      toInstant('until', options, utc),
    ])
    const flags = flagsFilter({
      ...(status && { status }),
      ...(flow !== undefined && { flow }),
      ...(run !== undefined && { run }),
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
    })
    if (words.length === 0) return flags
    // Loaded only for it: what finds words in every script takes as long to load as the list to make.
    const [{ parseQuery }, { toSessionFilter }] = await Promise.all([
      import('../../search/query.ts'),
      import('../../search/session-filter.ts'),
    ])
    return all([flags, toSessionFilter(parseQuery(words.join(' '), { utc }))])
  } catch (error) {
    await printError(error, options.json === true, WRONG_USAGE)
    return undefined
  }
}

async function toInstant(
  name: 'since' | 'until',
  options: { readonly since?: string; readonly until?: string },
  utc: boolean,
): Promise<string | undefined> {
  const value = options[name]
  if (value === undefined) return undefined
  const { parseField } = await import('../../search/query-fields.ts')
  const given = value.trim() === '' ? '-' : value
  const token = { type: 'field', name, operator: ':', value: given, quoted: false, raw: value } as const
  const test = parseField(token, { utc })
  return test !== undefined && 'instant' in test ? test.instant : undefined
}

type Found = { readonly page: ListedPage; readonly isCaughtUp: boolean }

const NOTHING: ListedPage = { sessions: [], total: 0, unsure: 0 }

async function find(
  archive: Archive,
  options: ListOptions,
  words: readonly string[],
  question: SessionQuestion,
): Promise<Found> {
  const { answer, isCaughtUp } = await withState(archive, async (state) => ({
    page: querySessions(state.database, question),
    others: await findUnlisted(archive, state, options, words),
  }))
  const others = answer?.others ?? (await findUnlisted(archive, undefined, options, words))
  sayBehind(archive, isCaughtUp)
  return { page: withUnlisted(answer?.page ?? NOTHING, others, question), isCaughtUp }
}

export function sayBehind(archive: Archive, isCaughtUp: boolean): void {
  if (isCaughtUp) return
  note(
    `hansard: ${archive.home} cannot be brought up to date now: what another program wrote last may be missing`,
  )
}

/** Recorded while the state could not be brought up to date: few, read one by one. Of a query's words nothing is known of them. */
async function findUnlisted(
  archive: Archive,
  state: State | undefined,
  options: ListOptions,
  words: readonly string[],
): Promise<readonly Session[]> {
  if (unlistedIds(archive, state).length === 0) return []
  const { readUnlisted, isWanted } = await import('../../sources/unlisted.ts')
  const { sessions, unreadable } = await readUnlisted(archive, state)
  for (const { id, message } of unreadable) {
    process.exitCode = FAILED
    note(`hansard: ${id} cannot be read: ${message}`)
  }
  const isAsked = words.length > 0 || options.since !== undefined || options.until !== undefined
  if (isAsked && sessions.length > 0)
    note(
      `hansard: ${sessions.length} recorded in the last moments cannot be asked yet, and are not in this list`,
    )
  return isAsked ? [] : sessions.filter((session) => isWanted(session, options))
}

/** On the first page, newest first. */
function withUnlisted(page: ListedPage, others: readonly Session[], question: SessionQuestion): ListedPage {
  if (others.length === 0) return page
  const total = page.total + others.length
  if (question.after !== undefined || question.offset !== undefined) return { ...page, total }
  const shown = [...page.sessions, ...others].sort((a, b) =>
    (a.startedAt ?? '') > (b.startedAt ?? '') ? -1 : 1,
  )
  return { ...page, sessions: shown.slice(0, question.limit), total }
}

/** Sessions asked for at a time when all are: an archive may have more than memory holds. */
const AT_ONCE = 1000

async function printJson(
  archive: Archive,
  options: ListOptions,
  words: readonly string[],
  question: SessionQuestion,
): Promise<void> {
  const first = await find(archive, options, words, { ...question, limit: question.limit ?? AT_ONCE })
  const { total, unsure } = first.page
  let { next } = first.page
  await out(`{"sessions":[${rowsOf(first.page.sessions)}`)
  if (question.limit === undefined && next !== undefined) {
    const { offset: _, ...rest } = question
    await withState(archive, async ({ database }) => {
      while (next !== undefined) {
        const page = querySessions(database, { ...rest, after: next, limit: AT_ONCE })
        if (page.sessions.length > 0) await out(`,${rowsOf(page.sessions)}`)
        next = page.next
        // Whoever reads is as fast as we are, and what SQLite's driver took for a page it gives back between two turns.
        await nextTurn()
      }
    })
  }
  const more = { total, ...(next !== undefined && { next }), ...(unsure > 0 && { unsure }) }
  await out(`],${printableJson(more).slice(1)}\n`)
}

function rowsOf(sessions: readonly RowSession[]): string {
  return sessions.map((session) => printableJson(toListedRow(session))).join(',')
}
