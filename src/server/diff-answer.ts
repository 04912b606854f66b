/** A comparison as a page takes it: so many of everything at most, of long texts the part from where they differ, and how much is left out. */
import type { SessionDiff, Spot, StepChange } from '../replay/diff/diff.ts'
import type { SessionFacts } from '../replay/diff/facts.ts'
import type { DiffAnswer, DiffChange, DiffSide, DiffSpot } from './api-diff.ts'
import type { SessionRow } from './api-model.ts'

export const MOST_CHANGES = 500
/** Tools, files and turns each. */
const MOST_NAMED = 500
/** Characters of a step on either side. The first difference is what most come for. */
const FIRST_LENGTH = 32_768
const TEXT_LENGTH = 4096
/** Of what is the same, before where the texts differ. */
const BEFORE = 400
const LAST_ANSWER = 2000

export function toDiffAnswer(
  { a, b, isSame, alike, changes, counts, tools, files, turns }: SessionDiff,
  rows: { readonly a: SessionRow; readonly b: SessionRow },
): DiffAnswer {
  const changed = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const rest = (all: readonly unknown[]): number => Math.max(0, all.length - MOST_NAMED)
  // What differs is not left out for what does not.
  const isSameUse = ({ a: was, b: is }: SessionDiff['tools'][number]): boolean =>
    was.calls === is.calls && was.failed === is.failed
  const toolsByUse = [...tools.filter((one) => !isSameUse(one)), ...tools.filter(isSameUse)]
  return {
    a: toSide(a, rows.a),
    b: toSide(b, rows.b),
    isSame,
    alike,
    changes: changes
      .slice(0, MOST_CHANGES)
      .map((change, at) => toChange(change, at === 0 ? FIRST_LENGTH : TEXT_LENGTH)),
    counts,
    tools: toolsByUse.slice(0, MOST_NAMED),
    files: files.slice(0, MOST_NAMED),
    turns: turns.slice(0, MOST_NAMED),
    more: {
      changes: Math.max(0, changed - MOST_CHANGES),
      tools: rest(tools),
      files: rest(files),
      turns: rest(turns),
    },
  }
}

function toSide(facts: SessionFacts, row: SessionRow): DiffSide {
  const { entries, turns, toolCalls, toolsFailed, tokensIn, tokensOut, quality } = facts
  const { error, stopReason, lastAnswer } = facts
  return {
    row,
    entries,
    turns,
    toolCalls,
    toolsFailed,
    ...(tokensIn !== undefined && { tokensIn }),
    ...(tokensOut !== undefined && { tokensOut }),
    ...(quality !== undefined && { quality }),
    ...(error !== undefined && { error }),
    ...(stopReason !== undefined && { stopReason }),
    ...(lastAnswer !== undefined && { lastAnswer: beginning(lastAnswer, LAST_ANSWER) }),
  }
}

function toChange({ type, what, tool, a, b }: StepChange, longest: number): DiffChange {
  const from = type === 'changed' ? sameUpTo(a?.text ?? '', b?.text ?? '', longest) : 0
  return {
    type,
    what,
    ...(tool !== undefined && { tool }),
    ...(a && { a: toSpot(a, from, longest) }),
    ...(b && {
      b: type === 'moved' ? { citation: b.citation, position: b.position } : toSpot(b, from, longest),
    }),
  }
}

/** The beginning of a line a little before where two texts differ; zero where both can be shown whole. */
function sameUpTo(a: string, b: string, longest: number): number {
  if (Math.max(a.length, b.length) <= longest) return 0
  const end = Math.min(a.length, b.length)
  let same = 0
  while (same < end && a[same] === b[same]) same += 1
  if (same <= BEFORE) return 0
  const line = a.indexOf('\n', same - BEFORE) + 1
  const from = line > 0 && line <= same ? line : same - BEFORE
  return isLow(a, from) ? from - 1 : from
}

/** Not between the halves of a character. */
const beginning = (text: string, length: number): string =>
  text.slice(0, isLow(text, length) ? length - 1 : length)
const isLow = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00

function toSpot({ citation, position, text }: Spot, from: number, longest: number): DiffSpot {
  if (text === undefined) return { citation, position }
  const shown = beginning(text.slice(from), longest)
  const cut = text.length - from - shown.length
  return {
    citation,
    position,
    text: shown,
    ...(from > 0 && { skipped: from }),
    ...(cut > 0 && { cut }),
  }
}
