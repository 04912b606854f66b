/** Sessions and runs as tables for people and as rows of a document for programs. */
import { markedTokens, onlyCost, toPrice } from '../replay/amounts.ts'
import { counted, toCount } from '../transcript/counted.ts'
import { toDuration, type Clock } from '../replay/clock.ts'
import { cut } from '../replay/escape.ts'
import type { RowSession } from '../search/session-row.ts'
import type { SessionPage } from '../search/sessions.ts'
import type { ListedSession } from '../sources/state-sessions.ts'
import { statusStyle } from './colour.ts'
import { noteLegend } from './legend.ts'
import { note, out } from './print.ts'
import type { ListedRun } from '../search/runs.ts'
import { toTable, type Column } from './table.ts'

export type ListedPage = Omit<SessionPage, 'sessions'> & { readonly sessions: readonly RowSession[] }

const SESSION_COLUMNS: readonly Column[] = [
  { name: 'SESSION', least: 13, cutLast: true },
  { name: 'STATUS' },
  { name: 'STARTED', cutLast: true, least: 10 },
  { name: 'TOOK', align: 'right', rank: 3 },
  { name: 'ACTIVITY', rank: 9, least: 12 },
  { name: 'ENTRIES', align: 'right', rank: 5 },
  { name: 'TOOLS', align: 'right', rank: 4 },
  { name: 'FAILED', align: 'right', rank: 4 },
  { name: 'FILES', align: 'right', rank: 6 },
  { name: 'TOKENS IN', align: 'right', rank: 2 },
  { name: 'OUT', align: 'right', rank: 2 },
  { name: 'COST', align: 'right', rank: 1 },
  { name: 'WHAT', least: 20 },
]

export type ListPage = {
  readonly clock: Clock
  readonly home: string
  readonly offset: number
  /** It goes on from a page before. */
  readonly isAfter: boolean
}

export async function printSessions(
  page: ListedPage,
  { clock, home, offset, isAfter }: ListPage,
): Promise<void> {
  const { sessions, total, unsure } = page
  if (total === 0) note(`no sessions in ${home}`)
  else {
    const amounts: string[] = []
    const rows = sessions.map((session) => {
      const tokens = markedTokens(session)
      const cost = onlyCost(session)
      amounts.push(tokens.in, tokens.out, cost)
      const { did, status, totals } = session
      return [
        session.id,
        { text: status, style: statusStyle(status) },
        clock.date(session.startedAt),
        did?.durationMs === undefined ? '-' : toDuration(did.durationMs),
        sparkline(did?.activity?.counts ?? []),
        toCount(totals?.entries),
        toCount(totals?.toolCalls),
        toCell(did?.toolsFailed),
        toCell(did?.filesTouched),
        tokens.in,
        tokens.out,
        cost,
        cut(what(session), 60),
      ]
    })
    if (rows.length > 0) await out(toTable(SESSION_COLUMNS, rows))
    noteLegend(amounts)
    note(ofAll({ shown: rows.length, total, offset, isAfter }, 'session'))
    if (page.next !== undefined) note(`more: --limit ${rows.length * 2}, or --after ${sessions.at(-1)?.id}`)
  }
  if (unsure > 0)
    note(
      `${counted(unsure, 'session')} with more files, tools or sources than are remembered may match too: see hansard search`,
    )
}

/** In a column of numbers what nobody said is a stroke, never a zero. */
const toCell = (count: number | undefined): string => (count === undefined ? '-' : toCount(count))

const BARS = '▁▂▃▄▅▆▇█'
const WIDEST = 12

/** How busy it was: at most twelve signs, the highest for the busiest time. */
export function sparkline(counts: readonly number[]): string {
  const step = Math.ceil(counts.length / WIDEST)
  const bars = Array.from({ length: step === 0 ? 0 : Math.ceil(counts.length / step) }, (_, at) =>
    counts.slice(at * step, (at + 1) * step).reduce((sum, count) => sum + count, 0),
  )
  const most = Math.max(1, ...bars)
  return bars
    .map((count) =>
      count === 0 ? ' ' : BARS[Math.min(BARS.length - 1, Math.floor((count / most) * BARS.length))],
    )
    .join('')
}

const RUN_COLUMNS: readonly Column[] = [
  { name: 'RUN' },
  { name: 'STATUS' },
  { name: 'STARTED' },
  { name: 'SESSIONS', align: 'right' },
  { name: 'COST', align: 'right' },
]

export async function printRuns(
  runs: readonly ListedRun[],
  total: number,
  clock: Clock,
  home: string,
): Promise<void> {
  if (total === 0) return note(`no runs in ${home}`)
  const costs = runs.map(({ usage, uncounted, cost, isCostEstimated }) =>
    toPrice({ usage, uncounted, cost, isEstimated: isCostEstimated }),
  )
  const rows = runs.map(({ id, status, startedAt, sessions }, at) => {
    return [id, status, clock.date(startedAt), toCount(sessions.length), costs[at] ?? '']
  })
  await out(toTable(RUN_COLUMNS, rows))
  noteLegend(costs)
  note(ofAll({ shown: runs.length, total, offset: 0, isAfter: false }, 'run'))
}

type Shown = {
  readonly shown: number
  readonly total: number
  readonly offset: number
  readonly isAfter: boolean
}

function ofAll({ shown, total, offset, isAfter }: Shown, one: string): string {
  if (shown === total) return counted(total, one)
  const which =
    isAfter || offset === 0 ? toCount(shown) : `${toCount(offset + 1)} to ${toCount(offset + shown)}`
  return `${which} of ${counted(total, one)}`
}

function what({ title, prompt, run, agent }: ListedSession): string {
  if (run?.flow === undefined) return title ?? prompt ?? agent ?? ''
  return title ?? [run?.flow, run?.step, agent].filter((part) => part !== undefined).join(' ')
}
