/**
 * One conversation unit as text: a header, then blocks, at most 20 KB. What a limit cuts is reported where it is cut, and a
 * unit never holds more than it can write.
 */
import type { Entry } from '../transcript/entry.ts'
import type { WriteContext } from './format.ts'
import { HEADER_END, isMisread, toBlockText, type Mark } from './leslie-marks.ts'

/** Bytes of the whole file, header and mark of truncation included. */
export const FILE_LIMIT = 20 * 1024
/** Characters (code points) of a tool's parameters and of its result, the mark of truncation included. */
export const TOOL_LIMIT = 200
const CUT = '...'

export type Unit = {
  readonly first: Entry
  add(entry: Entry | undefined, mark: Mark, content: string): void
  /** The text of the last block, where it is of this type. */
  lastText(type: Mark['type']): string | undefined
  /** The file's text. */
  render(header: readonly string[]): string
}

type Part = { readonly entry: Entry | undefined; readonly text: string; readonly bytes: number }

export function createUnit(first: Entry, context: WriteContext): Unit {
  const parts: Part[] = []
  let bytes = 0
  let last: { readonly type: Mark['type']; readonly content: string } | undefined

  return {
    first,
    lastText: (type) => (last?.type === type ? last.content : undefined),
    add(entry, mark, content) {
      if (bytes > FILE_LIMIT) {
        context.lost(entry, `a ${mark.type} block, beyond the 20 KB of a file`)
        return
      }
      if (isMisread(mark.type, content)) {
        context.lost(entry, 'where the text ends: it holds a line that reads as a mark')
      }
      last = { type: mark.type, content }
      // No character is less than a byte, so what is sliced off here is beyond the limit for certain.
      const text = toBlockText(mark, content).slice(0, FILE_LIMIT + 1)
      const part = { entry, text, bytes: Buffer.byteLength(text) }
      parts.push(part)
      bytes += part.bytes + 2
    },
    render(header) {
      const head = `${[...header, HEADER_END, ''].join('\n')}\n`
      const text = `${head}${parts.map((part) => part.text).join('\n\n')}\n`
      if (Buffer.byteLength(text) <= FILE_LIMIT) return text
      const end = FILE_LIMIT - CUT.length - 1
      let at = Buffer.byteLength(head)
      for (const part of parts) {
        if (at + part.bytes > end) context.lost(part.entry, 'text beyond the 20 KB of a file')
        at += part.bytes + 2
      }
      return `${sliceBytes(text, end)}${CUT}\n`
    },
  }
}

/** At most `limit` characters, the last three of them dots when something was cut. */
export function truncate(text: string, limit: number = TOOL_LIMIT): string {
  if (text.length <= limit) return text
  let characters = 0
  let keep = 0
  for (const character of text) {
    characters += 1
    if (characters <= limit - CUT.length) keep += character.length
    if (characters > limit) return `${text.slice(0, keep)}${CUT}`
  }
  return text
}

/** The longest beginning that is at most so many bytes and ends between two characters. */
function sliceBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  let end = limit
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
