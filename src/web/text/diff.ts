/**
 * Two texts as lines that went, came and stayed, with the words that differ marked; and patches in the shapes that tools write them.
 * Bounded: where finding the least difference would take long, everything went and everything came.
 */
import { diffArrays, diffWordsWithSpace } from 'diff'

export type DiffMark = { readonly start: number; readonly end: number }
export type DiffRow =
  | { readonly kind: 'same' | 'gone' | 'new'; readonly text: string; readonly marks?: readonly DiffMark[] }
  /** Lines that are the same on both sides and left out, or what a patch says between its parts. */
  | { readonly kind: 'skip'; readonly count: number }
  | { readonly kind: 'note'; readonly text: string }

/** Lines around a difference that are shown. */
const CONTEXT = 3
/** Lines of difference up to which the least one is looked for: it takes their square. */
const MOST_EDITS = 1000
const LONGEST_LINE = 600
const MOST_COMPARED = 200

export function diffTexts(before: string, after: string): readonly DiffRow[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  const changes = diffArrays(old, now, { maxEditLength: MOST_EDITS })
  const rows: DiffRow[] =
    changes === undefined
      ? [...old.map((text) => row('gone', text)), ...now.map((text) => row('new', text))]
      : changes.flatMap(({ added, removed, value }) =>
          value.map((text) => row(added ? 'new' : removed ? 'gone' : 'same', text)),
        )
  return withoutFar(withMarks(rows))
}

/** A unified diff, or what apply_patch takes; each line by its first character, whatever else it says as a note. */
export function patchRows(patch: string): readonly DiffRow[] {
  const rows = linesOf(patch).map((line): DiffRow => {
    if (/^(?:\+\+\+ |--- |\*\*\* |@@|diff |index |new file|deleted file)/.test(line))
      return { kind: 'note', text: line }
    if (line.startsWith('+')) return row('new', line.slice(1))
    if (line.startsWith('-')) return row('gone', line.slice(1))
    return row('same', line.startsWith(' ') ? line.slice(1) : line)
  })
  return withMarks(rows)
}

/** Cline's blocks of what to look for and what to put there. Undefined where there are none. */
export function searchReplaceRows(text: string): readonly DiffRow[] | undefined {
  const rows: DiffRow[] = []
  let before: string[] | undefined
  let after: string[] | undefined
  for (const line of text.split('\n')) {
    if (/^[<-]{5,9} ?SEARCH>?$/.test(line)) [before, after] = [[], undefined]
    else if (before !== undefined && after === undefined && /^={5,9}$/.test(line)) after = []
    else if (before !== undefined && after !== undefined && /^[>+]{5,9} ?REPLACE>?$/.test(line)) {
      if (rows.length > 0) rows.push({ kind: 'note', text: '' })
      rows.push(...diffTexts(before.join('\n'), after.join('\n')))
      before = after = undefined
    } else (after ?? before)?.push(line)
  }
  return rows.length === 0 ? undefined : rows
}

/** All of one kind: a file that was written, or deleted. */
export const wholeRows = (text: string, kind: 'new' | 'gone'): readonly DiffRow[] =>
  linesOf(text).map((line) => row(kind, line))

const row = (kind: 'same' | 'gone' | 'new', text: string): DiffRow => ({ kind, text })

function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Lines that went and as many that came in their place are compared word by word. */
function withMarks(rows: readonly DiffRow[]): DiffRow[] {
  const marked = [...rows]
  let compared = 0
  for (let at = 0; at < rows.length;) {
    if (rows[at]?.kind !== 'gone') {
      at += 1
      continue
    }
    let middle = at
    while (rows[middle]?.kind === 'gone') middle += 1
    let end = middle
    while (rows[end]?.kind === 'new') end += 1
    const isPaired = end - middle === middle - at
    const pairs = isPaired ? Math.min(middle - at, MOST_COMPARED - compared) : 0
    compared += pairs
    for (let i = 0; i < pairs; i += 1) {
      const [gone, came] = [rows[at + i], rows[middle + i]]
      if (gone?.kind !== 'gone' || came?.kind !== 'new') continue
      const marks = wordMarks(gone.text, came.text)
      if (marks === undefined) continue
      marked[at + i] = { ...gone, marks: marks.gone }
      marked[middle + i] = { ...came, marks: marks.came }
    }
    at = end
  }
  return marked
}

function wordMarks(before: string, after: string): { gone: DiffMark[]; came: DiffMark[] } | undefined {
  if (before.length > LONGEST_LINE || after.length > LONGEST_LINE) return undefined
  const changes = diffWordsWithSpace(before, after, { maxEditLength: 60 })
  if (changes === undefined) return undefined
  const marks = { gone: [] as DiffMark[], came: [] as DiffMark[] }
  let [left, right, same] = [0, 0, 0]
  for (const { added, removed, value } of changes) {
    const { length } = value
    if (added) marks.came.push({ start: right, end: right + length })
    else if (removed) marks.gone.push({ start: left, end: left + length })
    else same += length
    if (!added) left += length
    if (!removed) right += length
  }
  // Marks on everything say nothing.
  return same * 3 < Math.max(before.length, after.length) ? undefined : marks
}

function withoutFar(rows: readonly DiffRow[]): readonly DiffRow[] {
  const isNear = new Uint8Array(rows.length)
  rows.forEach(({ kind }, at) => {
    if (kind !== 'same') isNear.fill(1, Math.max(0, at - CONTEXT), at + CONTEXT + 1)
  })
  const shown: DiffRow[] = []
  let skipped = 0
  rows.forEach((row, at) => {
    if (isNear[at] === 0) {
      skipped += 1
      return
    }
    if (skipped > 0) shown.push({ kind: 'skip', count: skipped })
    skipped = 0
    shown.push(row)
  })
  if (skipped > 0) shown.push({ kind: 'skip', count: skipped })
  return shown
}
