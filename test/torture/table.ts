/** The table of `docs/truth.md`: what each case comes to, for a hasty reader and here. Computed, so that the page cannot go stale. */
import { COUNTS } from '../../src/transcript/usage.ts'
import type { Tally, TortureCase } from './case.ts'
import { measure } from './measure.ts'

const BEGIN = '<!-- table: begin -->'
const END = '<!-- table: end -->'

/** The page with its table made anew. */
export async function withTable(page: string, cases: readonly TortureCase[]): Promise<string> {
  const from = page.indexOf(BEGIN)
  const to = page.indexOf(END)
  if (from === -1 || to === -1) throw new Error(`the page has no ${BEGIN} and ${END}`)
  const rows = await Promise.all(cases.map(toRow))
  const table = ['| format | what | a hasty reader | gets | true |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  )
  return `${page.slice(0, from + BEGIN.length)}\n\n${table}\n\n${page.slice(to)}`
}

async function toRow(one: TortureCase): Promise<string> {
  const { tally } = await measure(one)
  const wrong = inWords(one.naive.count(one.files))
  return `| ${one.format} | ${one.name} | ${one.naive.does} | ${wrong} | ${inWords(tally)} |`
}

const WORDS: Readonly<Record<(typeof COUNTS)[number], string>> = {
  input: 'input',
  cacheRead: 'cache read',
  cacheWrite5m: 'written for 5 min',
  cacheWrite1h: 'for 1 h',
  output: 'output',
  reasoning: 'of it reasoning',
}

function inWords(tally: Partial<Tally>): string {
  const counts = COUNTS.filter((count) => tally[count] !== undefined).map(
    (count) => `${WORDS[count]} ${tally[count]}`,
  )
  const { calls, quality } = tally
  const words = [
    ...(counts.length === 0 && calls === 0 ? ['unknown'] : counts),
    ...(calls === undefined || (counts.length === 0 && calls === 0)
      ? []
      : [`${calls} ${calls === 1 ? 'call' : 'calls'}`]),
    ...(quality === undefined || (counts.length === 0 && calls === 0) ? [] : [quality]),
  ]
  return words.join(', ')
}
