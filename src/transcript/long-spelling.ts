/**
 * Texts and values of many MB, spelled as JSON a piece at a time: spelled at once, a long text is three times in memory. The pieces
 * together are what `JSON.stringify` gives.
 */
import { isObject } from './json.ts'

/** UTF-16 units of a piece. */
const PIECE = 64 * 1024

/** The text in parts, none of which ends in the middle of a character: half of one by itself would be spelled otherwise. */
export function* textPieces(text: string, units = PIECE): Generator<string> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + units, text.length)
    if (isHigh(text.charCodeAt(to - 1)) && isLow(text.charCodeAt(to))) to += to - 1 > from ? -1 : 1
    yield text.slice(from, to)
    from = to
  }
}

/** What stands between the quotes, in UTF-8. */
export function* spelledPieces(text: string, units = PIECE): Generator<Buffer> {
  for (const piece of textPieces(text, units)) yield Buffer.from(JSON.stringify(piece)).subarray(1, -1)
}

/** Of nothing but plain values, however deep. Only a long text is in more than one piece; the rest of it is in as many as it has parts. */
export function* jsonPieces(value: unknown): Generator<string> {
  const stack: (string | { readonly value: unknown })[] = [{ value }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') yield next
    else if (typeof next.value === 'string') {
      yield '"'
      for (const piece of textPieces(next.value)) yield JSON.stringify(piece).slice(1, -1)
      yield '"'
    } else if (Array.isArray(next.value)) {
      const items: readonly unknown[] = next.value
      yield '['
      stack.push(']')
      for (let at = items.length - 1; at >= 0; at -= 1)
        stack.push({ value: items[at] ?? null }, at > 0 ? ',' : '')
    } else if (isObject(next.value)) {
      const members = Object.entries(next.value).filter(([, member]) => member !== undefined)
      yield '{'
      stack.push('}')
      for (let at = members.length - 1; at >= 0; at -= 1) {
        const [key, member] = members[at] as [string, unknown]
        stack.push({ value: member }, `${at > 0 ? ',' : ''}${JSON.stringify(key)}:`)
      }
    } else yield JSON.stringify(next.value)
  }
}

/** True where a text in it is longer than this. */
export function hasLongText(value: unknown, units = PIECE): boolean {
  const stack = [value]
  while (stack.length > 0) {
    const next = stack.pop()
    if (typeof next === 'string') {
      if (next.length > units) return true
    } else if (typeof next === 'object' && next !== null)
      for (const one of Object.values(next)) stack.push(one)
  }
  return false
}

/** Not of what is behind the end, which is no number. */
const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00
const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800
