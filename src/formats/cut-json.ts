/**
 * JSON text that ends too early, closed where it ends: one pass to see what is open, and the built-in parser for the rest. All keys, all
 * values that are whole, and of a text that is cut its beginning. A number or word that is cut is null: it may have lost digits.
 */
import { parseJson, type Json } from '../transcript/json.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** Undefined for what is no object or list, and for what is broken before it is cut: brackets that do not match, a raw newline in a text. */
export function parseCut(text: string): Json | undefined {
  const closed = close(text)
  return closed === undefined ? undefined : parseJson(closed)
}

function close(text: string): string | undefined {
  const opened: number[] = []
  /** The last of `{`, `[`, `,` and `:`, and where it stands. */
  let mark = 0
  let markAt = 0
  /** True when something stands behind the mark. */
  let isFollowed = false
  for (let at = 0; at < text.length;) {
    const unit = text.charCodeAt(at)
    if (unit <= 0x20 || unit === 0xfeff) {
      at += 1
    } else if (unit === QUOTE) {
      const end = endOfText(text, at)
      if (end === -1) {
        if (opened.length === 0) return undefined
        return isKey(opened, mark)
          ? finish(beforeKey(text, mark, markAt), opened)
          : finish(`${text.slice(0, at)}${wholeText(text.slice(at))}"`, opened)
      }
      isFollowed = true
      at = end
    } else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      opened.push(unit)
      mark = unit
      markAt = at
      isFollowed = false
      at += 1
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      if (opened.pop() !== (unit === CLOSE_BRACE ? OPEN_BRACE : OPEN_BRACKET)) return undefined
      // What stands behind the end is not looked at.
      if (opened.length === 0) return text.slice(text.charCodeAt(0) === 0xfeff ? 1 : 0, at + 1)
      mark = 0
      isFollowed = true
      at += 1
    } else if (unit === COMMA || unit === COLON) {
      mark = unit
      markAt = at
      isFollowed = false
      at += 1
    } else {
      if (opened.length === 0) return undefined
      const from = at
      while (at < text.length && !endsWord(text.charCodeAt(at))) at += 1
      if (at === text.length) return finish(`${text.slice(0, from)}null`, opened)
      isFollowed = true
    }
  }
  if (opened.length === 0) return undefined
  if (isFollowed) return finish(isKey(opened, mark) ? beforeKey(text, mark, markAt) : text, opened)
  if (mark === COLON) return finish(`${text}null`, opened)
  return finish(mark === COMMA ? text.slice(0, markAt) : text, opened)
}

/** In an object, what follows its brace or a comma is a key. */
function isKey(opened: readonly number[], mark: number): boolean {
  return opened.at(-1) === OPEN_BRACE && (mark === OPEN_BRACE || mark === COMMA)
}

function beforeKey(text: string, mark: number, markAt: number): string {
  return text.slice(0, mark === COMMA ? markAt : markAt + 1)
}

/** Behind the closing quote; -1 where there is none. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return at + 1
  }
  return -1
}

/** Without an escape or a character that is cut in two. */
function wholeText(cut: string): string {
  const text = cut.replace(/\uFFFD+$/, '')
  const [escape = ''] = /\\(?:u[0-9a-fA-F]{0,3})?$/.exec(text) ?? []
  if (escape === '') return text
  let slashes = 0
  for (let at = text.length - escape.length; text.charCodeAt(at - slashes) === BACKSLASH;) slashes += 1
  return slashes % 2 === 1 ? text.slice(0, -escape.length) : text
}

function endsWord(unit: number): boolean {
  return (
    unit <= 0x20 || unit === COMMA || unit === CLOSE_BRACE || unit === CLOSE_BRACKET || unit === OPEN_BRACE
  )
}

function finish(text: string, opened: readonly number[]): string {
  const from = text.charCodeAt(0) === 0xfeff ? 1 : 0
  const closing = opened.map((unit) => (unit === OPEN_BRACE ? '}' : ']')).toReversed()
  return `${text.slice(from)}${closing.join('')}`
}
