/**
 * Hits for people: those of one session together, each with the citation to copy and the words around the match. Marked in
 * colour where there is any, else with «»; as wide as the terminal.
 */
import { toBytes } from '../replay/amounts.ts'
import { counted, toCount } from '../transcript/counted.ts'
import { createClock } from '../replay/clock.ts'
import { visibleLine } from '../replay/escape.ts'
import type { Explained } from '../search/explain.ts'
import type { SearchHit, SearchResult } from '../search/search.ts'
import type { Snippet } from '../search/snippet.ts'
import type { Colours } from './colour.ts'
import { fit, widthOf } from './width.ts'

export type Shown = SearchHit & { readonly snippet: Snippet | undefined }

export type PageOptions = {
  readonly utc: boolean
  readonly colours: Colours
  /** Columns of the terminal; undefined in a pipe, where lines are as long as they are. */
  readonly width: number | undefined
}

const INDENT = '  '

export function toPage(shown: readonly Shown[], { utc, colours, width }: PageOptions): string {
  const clock = createClock(utc ? 'UTC' : undefined)
  let page = ''
  let session: string | undefined
  for (const hit of shown) {
    const { citation, role, at, snippet } = hit
    const heading = headingOf(hit)
    if (hit.session !== session && heading !== '')
      page += `${session === undefined ? '' : '\n'}${colours.bold(width === undefined ? heading : fit(heading, width))}\n`
    session = hit.session
    // The citation whole, whatever the width: it is there to be copied.
    page += `${colours.cyan(visibleLine(citation))}  ${colours.dim(`${clock.date(at)}  ${role ?? 'event'}`)}\n`
    if (snippet !== undefined) page += `${toLines(snippet, colours, width)}\n`
  }
  return page
}

/** What the session is about, by whom, and where. */
function headingOf({ title, agent, cwd }: SearchHit): string {
  return [title, agent, cwd].flatMap((part) => (part === undefined ? [] : [visibleLine(part)])).join(' · ')
}

function toLines(
  { text, marks, isCutBefore, isCutAfter }: Snippet,
  colours: Colours,
  width: number | undefined,
): string {
  const pieces: { text: string; isMark: boolean }[] = []
  const add = (from: number, to: number, isMark: boolean): void => {
    const part = visibleLine(text.slice(from, to))
    if (part !== '') pieces.push({ text: isMark && !colours.isOn ? `«${part}»` : part, isMark })
  }
  let at = 0
  if (isCutBefore) pieces.push({ text: '…', isMark: false })
  for (const { start, end } of marks) {
    add(at, start, false)
    add(start, end, true)
    at = end
  }
  add(at, text.length, false)
  if (isCutAfter) pieces.push({ text: '…', isMark: false })
  const lines = width === undefined ? [pieces] : wrapped(pieces, Math.max(20, width - INDENT.length))
  return lines
    .map(
      (line) =>
        INDENT +
        line.map((one) => (one.isMark ? colours.paint(one.text, 'bold', 'yellow') : one.text)).join(''),
    )
    .join('\n')
}

type Piece = { readonly text: string; readonly isMark: boolean }

/** Broken between words; a word that is longer than a line, where the line ends. */
function wrapped(pieces: readonly Piece[], room: number): Piece[][] {
  const lines: Piece[][] = [[]]
  let left = room
  const hasBegun = (): boolean => (lines.at(-1)?.length ?? 0) > 0
  const put = (text: string, isMark: boolean): void => {
    lines.at(-1)?.push({ text, isMark })
    left -= widthOf(text)
  }
  for (const { text, isMark } of pieces) {
    for (const word of text.match(/\s+|\S+/gu) ?? []) {
      const isSpace = word.trim() === ''
      if (widthOf(word) <= left) {
        if (!isSpace || hasBegun()) put(word, isMark)
        continue
      }
      if (hasBegun()) lines.push([])
      left = room
      if (isSpace) continue
      let rest = word
      while (widthOf(rest) > room) {
        const part = fit(rest, room).replace(/…$/u, '')
        if (part === '') break
        put(part, isMark)
        rest = rest.slice(part.length)
        lines.push([])
        left = room
      }
      if (rest !== '') put(rest, isMark)
    }
  }
  return lines.filter((line) => line.length > 0)
}

/** What was looked at for it, in one line. */
export function toSummary(shown: readonly Shown[], { total, scanned, tookMs }: SearchResult): string {
  const found =
    total === undefined ? `the first ${toCount(shown.length)}` : counted(total, 'entry', 'entries')
  const read =
    scanned.units === 0 ? '' : `; ${counted(scanned.units, 'unit')}, ${toBytes(scanned.bytes)}, read through`
  return `${shown.length === 0 ? 'nothing was found' : found} (${Math.round(tookMs)} ms${read})`
}

/** Why nothing was found, a line for each thing that can be said. */
export function toReasons({ searched, without, spelling }: Explained, home: string): string[] {
  const { units, sessions, entries, since, until } = searched
  const period =
    since === undefined || until === undefined ? '' : `, ${since.slice(0, 10)} to ${until.slice(0, 10)}`
  const all = `searched ${counted(entries, 'entry', 'entries')} of ${counted(sessions, 'session')} in ${counted(units, 'unit')}${period}`
  if (entries === 0)
    return [`there is nothing to search in ${home} yet: hansard sync takes in what agents wrote`]
  return [
    all,
    ...spelling.map(
      ({ word, nearest }) => `no entry has “${visibleLine(word)}”: did you mean “${visibleLine(nearest)}”?`,
    ),
    ...without.map(
      ({ part, found, isAll }) =>
        `0 with ${visibleLine(part)}; ${isAll ? '' : 'at least '}${toCount(found)} without it`,
    ),
  ]
}
