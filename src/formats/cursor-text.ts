/**
 * Cursor's older transcripts, plain text: `user:` and `assistant:` on lines of their own, and in what the assistant says
 * `[Thinking]`, `[Tool call] Name` and `[Tool result] Name`. Nothing is escaped, so a line that looks like a mark is one. Every line
 * is in an entry.
 */
import type { Block } from '../transcript/block.ts'
import type { Line } from '../transcript/lines.ts'
import { unwrapQuery } from './cursor-content.ts'
import { createJoinedText, type JoinedText } from './joined-text.ts'
import type { Place, Said } from './placing.ts'

export type TextEntry = { readonly said: Said; readonly place: Omit<Place, 'file'> }

export type TextFold = {
  /** What a line ends: the part before it, when it begins another. */
  push(line: Line): readonly TextEntry[]
  end(): readonly TextEntry[]
}

type Kind = 'text' | 'thinking' | 'call' | 'result'
type Part = {
  readonly role: 'user' | 'assistant' | undefined
  readonly kind: Kind
  readonly name: string
  readonly first: Line
  last: Line
  said: JoinedText
}

/** A part that is longer goes on in a second entry: memory is bounded. */
const PART_LENGTH = 8 * 1024 * 1024
/** Blank lines in a row that are told as such: a hostile file may have a thousand million. */
const MOST_BLANK = 100_000
const ROLE = /^(user|assistant|A):\s*$/
const MARK = /^\[(Thinking|Tool call|Tool result)\] ?(.*)$/

export function isRoleLine(text: string): boolean {
  return ROLE.test(text)
}

export function isMarkLine(text: string): boolean {
  return MARK.test(text)
}

export function createTextFold(): TextFold {
  let role: Part['role']
  let part: Part | undefined

  const end = (): readonly TextEntry[] => {
    const ended = part
    part = undefined
    return ended === undefined ? [] : [toEntry(ended)]
  }
  const begin = (line: Line, kind: Kind, name: string, text: string): readonly TextEntry[] => {
    // The line that says who speaks belongs to the first thing they say.
    const speaker =
      part?.said.length === 0 && part.kind === 'text' && part.first === part.last ? part.first : undefined
    const before = speaker === undefined ? end() : []
    part = { role, kind, name, first: speaker ?? line, last: line, said: createJoinedText(text) }
    return before
  }
  return {
    end,
    push(line) {
      const text = line.text ?? ''
      const said = ROLE.exec(text)?.[1]
      if (said !== undefined) {
        const before = end()
        role = said === 'user' ? 'user' : 'assistant'
        part = { role, kind: 'text', name: '', first: line, last: line, said: createJoinedText('') }
        return before
      }
      const mark = role === 'assistant' ? MARK.exec(text) : null
      if (mark !== null) {
        const [, word, after = ''] = mark
        if (word === 'Thinking') return begin(line, 'thinking', '', after)
        return begin(line, word === 'Tool call' ? 'call' : 'result', after.trim(), '')
      }
      if (part === undefined) return begin(line, 'text', '', text)
      const gap = line.number - part.last.number
      // A call's arguments are indented; what follows them after a blank line is said again.
      const isOver = part.kind === 'call' && gap > 1 && !/^\s/.test(text)
      if (isOver || part.said.length > PART_LENGTH)
        return begin(line, isOver ? 'text' : part.kind, part.name, text)
      const isEmpty = part.said.length === 0 && part.kind !== 'thinking'
      part.said.add(isEmpty ? text : '\n'.repeat(Math.min(gap, MOST_BLANK)) + text)
      part.last = line
      return []
    },
  }
}

function toEntry({ role, kind, name, first, last, said: joined }: Part): TextEntry {
  const text = joined.text()
  const place = {
    number: first.number,
    byteOffset: first.byteOffset,
    byteLength: last.byteOffset + last.byteLength - first.byteOffset,
  }
  if (kind === 'result') {
    const output = {
      type: 'tool-result',
      ...(name !== '' && { name }),
      ...(text !== '' && { output: text }),
    } as const
    return { said: { kind: 'message', role: 'tool', blocks: [output] }, place }
  }
  const query = role === 'user' ? unwrapQuery(text) : undefined
  const around = query?.around ?? []
  const said: Said = {
    kind: 'message',
    ...(role !== undefined && { role }),
    blocks: kind === 'text' && text === '' ? [] : [toBlock(kind, name, query?.text ?? text)],
    ...(around.length > 0 && { metadata: { around } }),
  }
  return { said, place }
}

function toBlock(kind: Exclude<Kind, 'result'>, name: string, text: string): Block {
  if (kind === 'text') return { type: 'text', text }
  if (kind === 'thinking') return { type: 'thinking', text }
  const input = toInput(text)
  return { type: 'tool-call', name: name === '' ? 'unknown' : name, ...(input !== undefined && { input }) }
}

const ARGUMENT = /^ {2}([\w.-]{1,100}): ?(.*)$/

/** `  name: value`, the value over as many lines as there are; the text itself where it is not so. */
function toInput(text: string): Record<string, string> | string | undefined {
  if (text.trim() === '') return undefined
  const values = new Map<string, string>()
  let open: { readonly name: string; readonly from: number } | undefined
  // One line at a time: all of them at once may be millions.
  for (let at = 0; at <= text.length;) {
    const found = text.indexOf('\n', at)
    const end = found === -1 ? text.length : found
    const [, begun, value = ''] = ARGUMENT.exec(text.slice(at, end)) ?? []
    if (begun !== undefined && !values.has(begun) && begun !== open?.name) {
      if (open !== undefined) values.set(open.name, text.slice(open.from, at - 1))
      if (values.size >= MOST_ARGUMENTS) return text
      open = { name: begun, from: end - value.length }
    } else if (open === undefined) return text
    at = end + 1
  }
  if (open !== undefined) values.set(open.name, text.slice(open.from))
  return Object.fromEntries(values)
}

const MOST_ARGUMENTS = 1000
