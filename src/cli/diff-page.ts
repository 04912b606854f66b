/** Two sessions beside each other in one screen: where they part, what each came to, its tools and files; all of it on request. */
import { markedCount, toDollars } from '../replay/amounts.ts'
import { counted, toCount } from '../transcript/counted.ts'
import { createClock, toDuration } from '../replay/clock.ts'
import type { SessionDiff, StepChange } from '../replay/diff/diff.ts'
import type { SessionFacts } from '../replay/diff/facts.ts'
import { cut, visible, visibleLine } from '../replay/escape.ts'
import { legend, marked, STATED, toMark } from '../replay/marks.ts'
import { lineDiff, type DiffLine } from '../replay/line-diff.ts'
import { coloursFor, type Colours } from './colour.ts'
import { out } from './print.ts'
import { stdout } from './streams.ts'
import { toTable } from './table.ts'
import { terminalWidth } from './width.ts'

export type DiffPage = { readonly full?: boolean; readonly turns?: boolean; readonly utc: boolean }

export async function printDiff(difference: SessionDiff, { full, turns, utc }: DiffPage): Promise<void> {
  const colours = coloursFor(stdout)
  const isFull = full === true
  const parts = [
    sides(difference, createClock(utc ? 'UTC' : undefined), colours),
    parting(difference, colours, isFull ? Infinity : FIRST_LINES),
    beside(difference, colours),
    toolsAndFiles(difference, isFull),
    turns === true ? turnByTurn(difference) : '',
  ]
  await out(`${parts.filter((part) => part !== '').join('\n\n')}\n`)
  // One by one: a hundred thousand of them are more than one text should be.
  if (isFull)
    for (const change of difference.changes.slice(1)) await out(`\n${step(change, colours, Infinity)}\n`)
  if (!difference.isSame) await out(`\n${rest(difference, isFull)}\n`)
}

/** Of the first difference, in the short view. */
const FIRST_LINES = 12
/** Tools and files in the short view. */
const MOST_NAMED = 8
const CONTEXT = 2

function sides({ a, b }: SessionDiff, clock: ReturnType<typeof createClock>, { bold }: Colours): string {
  const line = (name: string, { id, title, agent, startedAt }: SessionFacts): string =>
    [bold(name), id, agent ?? '', clock.date(startedAt), title ?? '']
      .map(visibleName)
      .filter(Boolean)
      .join('  ')
  return `${line('A', a)}\n${line('B', b)}`
}

/** What is painted is ours already. */
const visibleName = (text: string): string => (text.startsWith('\x1b') ? text : visibleLine(text))

function parting({ first, isSame, alike }: SessionDiff, colours: Colours, most: number): string {
  if (isSame || first === undefined) {
    const but = alike === 0 ? '' : `, but for ids, times or places in ${counted(alike, 'step')}`
    return `The same was asked and done in both${but}.`
  }
  return `${colours.bold('They part at')} ${step(first, colours, most)}`
}

const VERBS = {
  changed: 'differs',
  gone: 'is only in A',
  come: 'is only in B',
  moved: 'is elsewhere',
} as const
const NAMES: { readonly [What in StepChange['what']]: string } = {
  instruction: 'an instruction',
  prompt: 'a prompt',
  answer: 'an answer',
  thinking: 'thinking',
  call: 'a call',
  result: 'the result',
  image: 'an image',
  error: 'an error',
  record: 'a record',
}

function step({ type, what, tool, a, b }: StepChange, colours: Colours, most: number): string {
  const named = `${NAMES[what]}${tool === undefined ? '' : ` of ${visibleLine(tool)}`}`
  const where = [...(a ? [`A${inSession(a.citation)}`] : []), ...(b ? [`B${inSession(b.citation)}`] : [])]
  const head = `${named} that ${VERBS[type]}: ${where.join(', ')}`
  if (type === 'moved') return head
  const lines = nearChanges(lineDiff(a?.text ?? '', b?.text ?? '').filter(isOf(a, b)))
  const shown = lines.slice(0, most).map(({ sign, line }) => {
    const text = `  ${sign} ${visible(cut(line, LONGEST_LINE))}`
    return sign === '-' ? colours.red(text) : sign === '+' ? colours.green(text) : colours.dim(text)
  })
  const more = lines.length - shown.length
  if (more > 0) shown.push(colours.dim(`  … ${counted(more, 'line')} more: --full shows them`))
  return [head, ...shown].join('\n')
}

/** `#12`: whose it is has been said. */
const inSession = (cited: string): string => visibleLine(cited.slice(cited.indexOf('#')))

const LONGEST_LINE = 500

/** The empty line of a side that is not there. */
function isOf(a: unknown, b: unknown): (line: DiffLine) => boolean {
  return ({ sign, line }) =>
    line !== '' || (sign === '-' ? a !== undefined : sign === '+' ? b !== undefined : true)
}

/** Lines that differ, and two around them. */
function nearChanges(lines: readonly DiffLine[]): readonly DiffLine[] {
  const near = new Set<number>()
  for (const [at, { sign }] of lines.entries())
    if (sign !== ' ') for (let n = at - CONTEXT; n <= at + CONTEXT; n += 1) near.add(n)
  return lines.filter((_, at) => near.has(at))
}

function beside({ a, b }: SessionDiff, colours: Colours): string {
  const row = (name: string, say: (facts: SessionFacts) => string): readonly string[] => [
    name,
    say(a),
    say(b),
  ]
  const amounts = [
    row('Tokens in', (facts) => tokens(facts.tokensIn, facts)),
    row('Tokens out', (facts) => tokens(facts.tokensOut, facts)),
    row('Cost', ({ cost, costQuality }) =>
      cost === undefined || cost === null
        ? 'unknown'
        : marked(costQuality === undefined ? STATED : toMark(costQuality), toDollars(cost)),
    ),
  ]
  const rows = [
    row('Status', ({ status, error }) => (error === undefined ? status : `${status}: ${error}`)),
    row('Model', ({ models }) => models.join(', ') || 'unknown'),
    row('Turns', ({ turns }) => toCount(turns)),
    row('Entries', ({ entries }) => toCount(entries)),
    ...amounts,
    row('Duration', ({ durationMs }) => toDuration(durationMs)),
    row(
      'Tool calls',
      ({ toolCalls, toolsFailed }) => `${toCount(toolCalls)}, ${toCount(toolsFailed)} failed`,
    ),
    row('Ended by', ({ stopReason }) => stopReason ?? 'unknown'),
    row('Last said', ({ lastAnswer }) => cut(visibleLine(lastAnswer ?? 'nothing'), 60)),
  ]
  const table = toTable([{ name: '', cutLast: true }, { name: 'A' }, { name: 'B' }], rows, {
    width: terminalWidth(),
    colours,
  })
  const means = legend(amounts.flat())
  return `${table}${means === undefined ? '' : colours.dim(means)}`.trimEnd()
}

const tokens = (count: number | undefined, { quality }: SessionFacts): string =>
  markedCount(count, toMark(quality))

function toolsAndFiles({ tools, files }: SessionDiff, isAll: boolean): string {
  const other = tools.filter(({ a, b }) => a.calls !== b.calls || a.failed !== b.failed)
  const failed = (count: number): string => (count === 0 ? '' : ` (${count} failed)`)
  const toolsSaid = other.map(
    ({ name, a, b }) => `${visibleLine(name)} ${a.calls}${failed(a.failed)} → ${b.calls}${failed(b.failed)}`,
  )
  const filesSaid = files.map(({ path, a, b }) => {
    const ways = (side: readonly string[]): string => side.join('+') || 'not named'
    return `${visibleLine(path)}: ${ways(a)} → ${ways(b)}`
  })
  const list = (title: string, said: readonly string[]): string => {
    if (said.length === 0) return ''
    const shown = isAll ? said : said.slice(0, MOST_NAMED)
    const more = said.length - shown.length
    return [title, ...shown, ...(more > 0 ? [`… ${toCount(more)} more`] : [])].join('\n  ')
  }
  return [list('Tools', toolsSaid), list('Files', filesSaid)].filter((part) => part !== '').join('\n')
}

/** devflow's own words: identical turns are counted, the others named. */
function turnByTurn({ a, b, turns }: SessionDiff): string {
  const lines = turns.map(({ turn, verdict, a: was, b: is }) => {
    if (verdict === 'different') return `Turn ${turn}: different (${was?.chars} vs ${is?.chars} chars)`
    if (verdict === 'different roles') return `Turn ${turn}: different roles (${was?.role} vs ${is?.role})`
    return `Turn ${turn}: [missing] in ${was === undefined ? 'A' : 'B'}`
  })
  const same = Math.max(a.turns, b.turns) - turns.length
  return [
    `Run A: ${visibleLine(a.run)} (${a.status})`,
    `Run B: ${visibleLine(b.run)} (${b.status})`,
    `Turns: ${a.turns} vs ${b.turns}`,
    `Tokens In: ${tokens(a.tokensIn, a)} vs ${tokens(b.tokensIn, b)}`,
    `Tokens Out: ${tokens(a.tokensOut, a)} vs ${tokens(b.tokensOut, b)}`,
    `Identical turns: ${same}`,
    ...lines,
  ].join('\n')
}

function rest({ changes, counts }: SessionDiff, isFull: boolean): string {
  const said = [
    `${counts.changed} changed`,
    `${counts.gone} only in A`,
    `${counts.come} only in B`,
    `${counts.moved} elsewhere`,
  ]
  return `${counted(changes.length, 'step')} differ${changes.length === 1 ? 's' : ''}: ${said.join(', ')}${isFull ? '' : '; --full shows them'}`
}
