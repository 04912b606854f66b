/**
 * The lines that structure a leslie file. A mark counts only at the start of the body or after an empty line; nothing is
 * escaped, so a text that holds an empty line and then a mark reads back as two blocks: the format is one-way for those.
 */
import type { Status } from '../transcript/session.ts'

export const OPEN_QUERY = '<user_query>'
export const CLOSE_QUERY = '</user_query>'
export const HEADER_END = '---'

export type MarkType = 'user' | 'assistant' | 'tool-call' | 'tool-result' | 'error'
export type Mark = { readonly type: MarkType; readonly name?: string }

/** Both spellings of the assistant's mark: the rules say `assistant:`, the seed's first example `A:`. */
const PLAIN: ReadonlyMap<string, MarkType> = new Map([
  ['user:', 'user'],
  ['assistant:', 'assistant'],
  ['A:', 'assistant'],
  ['[Error]', 'error'],
])
const CALL = '[Tool call] '
const RESULT = '[Tool result] '

export function parseMark(line: string): Mark | undefined {
  const type = PLAIN.get(line)
  if (type !== undefined) return { type }
  if (line.startsWith(CALL)) return { type: 'tool-call', name: line.slice(CALL.length) }
  if (line.startsWith(RESULT)) return { type: 'tool-result', name: line.slice(RESULT.length) }
  return undefined
}

export function toBlockText(mark: Mark, content: string): string {
  if (mark.type === 'user') return `user:\n${OPEN_QUERY}\n${content}\n${CLOSE_QUERY}`
  if (mark.type === 'assistant') return `assistant:\n${content}`
  if (mark.type === 'error') return `[Error]\n${content}`
  return `${mark.type === 'tool-call' ? CALL : RESULT}${mark.name ?? ''}\n${content}`
}

/** True when a text of this type, written as it is, would not read back as itself. */
export function isMisread(type: MarkType, text: string): boolean {
  const lines = text.split('\n')
  return lines.some((line, index) => {
    if (line !== '') return false
    const mark = parseMark(lines[index + 1] ?? '')
    if (mark === undefined || index + 1 >= lines.length) return false
    if (type !== 'user') return true
    // Inside a query only what would end it, or begin another, is taken for a mark.
    return lines[index - 1] === CLOSE_QUERY || (mark.type === 'user' && lines[index + 2] === OPEN_QUERY)
  })
}

/** leslie has no status: what did not complete says so as its stop reason, `cancelled` with two l's. */
export const STATUS_WORDS: ReadonlyMap<Status, string> = new Map([
  ['canceled', 'cancelled'],
  ['interrupted', 'interrupted'],
  ['failed', 'error'],
])
