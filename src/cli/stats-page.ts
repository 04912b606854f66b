/** Statistics for people: one screen, numbers in columns, and where to look for what went wrong. */
import { markedCount, markedPrice, toDollars } from '../replay/amounts.ts'
import { counted, toCount } from '../transcript/counted.ts'
import { toDuration } from '../replay/clock.ts'
import { cut, visibleLine } from '../replay/escape.ts'
import { marked, sumMark, type Mark } from '../replay/marks.ts'
import type { Measures } from '../search/stats-sessions.ts'
import type { FoundWaste, ToolStats } from '../search/stats-tools.ts'
import type { Stats } from '../search/stats.ts'
import { STATUSES } from '../transcript/session.ts'
import { coloursFor } from './colour.ts'
import { noteLegend } from './legend.ts'
import { note, out } from './print.ts'
import { toTable, type Column } from './table.ts'
import { stdout } from './streams.ts'

export async function printStats(
  stats: Stats,
  { home, limit }: { readonly home: string; readonly limit: number },
): Promise<void> {
  const { sessions, status, totals, tools, findings } = stats
  if (sessions === 0) return note(`no sessions in ${home}`)
  const { bold } = coloursFor(stdout)
  const ended = STATUSES.filter((one) => status[one] > 0).map((one) => `${toCount(status[one])} ${one}`)
  await out(`${bold(counted(sessions, 'session'))}: ${ended.join(', ')}\n\n`)
  const rows = measures(stats)
  await out(toTable(MEASURE_COLUMNS, rows))
  noteLegend(rows.flat())
  const { unpriced } = totals.cost
  if (unpriced.length > 0)
    note(`unpriced: ${unpriced.map(visibleLine).join(', ')}: no price is known, so costs are at least these`)
  if (tools.length > 0) {
    await out(`\n${bold('Tools')}\n`)
    await out(toTable(TOOL_COLUMNS, tools.slice(0, limit).map(toolCells)))
    if (tools.length > limit)
      note(`${toCount(limit)} of ${counted(tools.length, 'tool')}: --limit ${tools.length}`)
  }
  if (findings.length === 0) return
  await out(`\n${bold('Done in vain')}\n`)
  for (const finding of findings) await out(toLine(finding))
}

const MEASURE_COLUMNS: readonly Column[] = [
  { name: '', cutLast: true },
  { name: 'TOTAL', align: 'right' },
  { name: 'AVERAGE', align: 'right' },
  { name: 'MEDIAN', align: 'right' },
]

/** Averages and medians are of the sessions that say it, and no surer than the total. */
function measures({ totals, average, median }: Stats): readonly (readonly string[])[] {
  const row = (
    name: string,
    total: string,
    key: keyof Measures,
    say: (value: number) => string,
    mark: Mark = '',
  ): readonly string[] => {
    const cells = [average[key], median[key]].map((value) => {
      if (value === undefined) return '-'
      return marked(mark, typeof value === 'string' ? toDollars(value) : say(Math.round(value)))
    })
    return [name, total, ...cells]
  }
  const { usage, uncounted, tokens } = totals
  const ofTokens = sumMark({ usage, uncounted })
  return [
    row('cost', markedPrice(totals), 'usd', String, sumMark(totals)),
    row('tokens', markedCount(tokens, ofTokens), 'tokens', toCount, ofTokens),
    row('time', toDuration(totals.durationMs), 'durationMs', toDuration),
    row('entries', toCount(totals.entries), 'entries', toCount),
    row('tool calls', toCount(totals.toolCalls), 'toolCalls', toCount),
    ['  failed', toCount(totals.toolsFailed)],
    ['  repeated', toCount(totals.repeatedCalls)],
    ['  re-reads', toCount(totals.rereads)],
  ]
}

const TOOL_COLUMNS: readonly Column[] = [
  { name: 'TOOL', cutLast: true, least: 12 },
  { name: 'CALLS', align: 'right' },
  { name: 'FAILED', align: 'right' },
  { name: 'RATE', align: 'right' },
  { name: 'TIME', align: 'right' },
  { name: 'EACH', align: 'right', rank: 1 },
  { name: 'AGAIN', align: 'right', rank: 2 },
  { name: 'SESSIONS', align: 'right', rank: 3 },
]

function toolCells(tool: ToolStats) {
  const { calls, failed, failureRate, totalMs, averageMs, repeatedCalls, rereads, sessions } = tool
  const rate = {
    text: `${(failureRate * 100).toFixed(failureRate < 0.1 ? 1 : 0)} %`,
    ...(failureRate >= 0.2 && RED),
  }
  return [
    tool.tool,
    toCount(calls),
    toCount(failed),
    rate,
    totalMs === undefined ? '-' : toDuration(totalMs),
    averageMs === undefined ? '-' : toShort(averageMs),
    toCount(repeatedCalls + rereads),
    toCount(sessions),
  ]
}

const RED = { style: 'red' } as const

const toShort = (millis: number): string =>
  millis < 10_000 ? `${(millis / 1000).toFixed(1)}s` : toDuration(millis)

const SAID: Readonly<Record<FoundWaste['kind'], (finding: FoundWaste) => string>> = {
  'repeated-calls': ({ tool, count }) =>
    `${visibleLine(tool)} called ${toCount(count)} times with the same input`,
  're-reads': ({ file = '', count }) => `${visibleLine(file)} read ${toCount(count)} times, unchanged`,
  failures: ({ tool, count }) =>
    `${toCount(count)} failures one after the other, the last of ${visibleLine(tool)}`,
}

function toLine(finding: FoundWaste): string {
  const { citations, title } = finding
  const [first = '', ...others] = citations
  const at = [first, ...others.map((one) => one.slice(one.indexOf('#')))].map(visibleLine).join(' ')
  const of = title === undefined ? '' : `  ${coloursFor(stdout).dim(visibleLine(cut(title, 50)))}`
  return `${SAID[finding.kind](finding)}\n  ${at}${of}\n`
}
