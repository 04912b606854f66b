/**
 * TOML as lines: where the keys of its root are, and where one more may stand. Nothing is written anew from what was understood.
 * Text that is not TOML is answered with what is wrong and where; what it means beyond its form is not asked.
 */
import { toProblem, Unreadable, type SettingsProblem } from './unreadable.ts'

export type TomlKey = { readonly key: string; readonly start: number; readonly end: number }

export type TomlOutline = {
  /** Of the root, with where their statements begin and end, the line's end not included. */
  readonly keys: readonly TomlKey[]
  /** Names of tables, dotted: `features`, `hooks.Stop`. */
  readonly tables: readonly string[]
  /** Where a line with one more key of the root may be put: the beginning of a line. */
  readonly place: number
}

const BARE = /[A-Za-z0-9_-]+/y
/** Numbers, dates, times, booleans: told from each other by nobody here. */
const PLAIN = /[A-Za-z0-9+\-_.:]+(?: \d{2}:\d{2}[\d:.Z+-]*)?/y
const DEPTH_LIMIT = 100

export function outlineToml(text: string): TomlOutline | SettingsProblem {
  const first = text.startsWith('\uFEFF') ? 1 : 0
  let at = first
  const fail = (problem: string): never => {
    throw new Unreadable(problem, at)
  }
  const spaces = (): void => {
    while (text[at] === ' ' || text[at] === '\t') at += 1
  }
  const comment = (): void => {
    if (text[at] !== '#') return
    while (at < text.length && text[at] !== '\n') at += 1
    if (text[at - 1] === '\r') at -= 1
  }
  const isLineEnd = (): boolean => at >= text.length || text[at] === '\n' || text.startsWith('\r\n', at)
  const lineEnd = (): void => {
    spaces()
    comment()
    if (!isLineEnd()) fail('something after the value')
  }
  const newline = (): void => {
    if (at < text.length) at += text[at] === '\r' ? 2 : 1
  }
  const blank = (): void => {
    for (;;) {
      spaces()
      comment()
      if (at >= text.length || !isLineEnd()) return
      newline()
    }
  }
  const string = (): string => {
    const quote = text[at] as string
    const long = quote.repeat(3)
    const isLong = text.startsWith(long, at)
    const close = isLong ? long : quote
    const start = at + close.length
    let end = start
    while (!text.startsWith(close, end)) {
      if (end >= text.length || (!isLong && text[end] === '\n')) fail('a string that does not end')
      end += quote === '"' && text[end] === '\\' ? 2 : 1
    }
    // A long string may end with quotes of its own.
    if (isLong) while (text[end + 3] === quote) end += 1
    at = end + close.length
    return text.slice(start, end)
  }
  const key = (): string => {
    const parts: string[] = []
    for (;;) {
      spaces()
      if (text[at] === '"' || text[at] === "'") parts.push(string())
      else {
        BARE.lastIndex = at
        const [bare] = BARE.exec(text) ?? []
        if (bare === undefined) return fail('no key')
        parts.push(bare)
        at += bare.length
      }
      spaces()
      if (text[at] !== '.') return parts.join('.')
      at += 1
    }
  }
  const value = (depth: number): void => {
    if (depth > DEPTH_LIMIT) fail(`nested deeper than ${DEPTH_LIMIT}`)
    const opening = text[at]
    if (opening === '"' || opening === "'") return void string()
    if (opening === '[' || opening === '{') return list(opening, depth)
    PLAIN.lastIndex = at
    const [plain] = PLAIN.exec(text) ?? []
    if (plain === undefined) fail('no value')
    at += plain?.length ?? 0
  }
  const list = (opening: string, depth: number): void => {
    const close = opening === '[' ? ']' : '}'
    at += 1
    for (;;) {
      blank()
      if (text[at] === close) break
      if (opening === '{') {
        key()
        if (text[at] !== '=') fail('no equals sign')
        at += 1
        spaces()
      }
      value(depth + 1)
      blank()
      if (text[at] === ',') at += 1
      else if (text[at] !== close) fail('no comma')
    }
    at += 1
  }

  const keys: TomlKey[] = []
  const tables: string[] = []
  let place = first
  try {
    for (;;) {
      blank()
      if (at >= text.length) return { keys, tables, place }
      const start = at
      if (text[at] === '[') {
        const isList = text[at + 1] === '['
        at += isList ? 2 : 1
        tables.push(key())
        if (!text.startsWith(isList ? ']]' : ']', at)) fail('no closing bracket')
        at += isList ? 2 : 1
        lineEnd()
      } else {
        const name = key()
        if (text[at] !== '=') fail('no equals sign')
        at += 1
        spaces()
        value(0)
        const end = at
        lineEnd()
        if (tables.length === 0) {
          keys.push({ key: name, start, end })
          place = Math.min(text.length, at + (text[at] === '\r' ? 2 : 1))
        }
      }
    }
  } catch (error) {
    return toProblem(error, text)
  }
}

/** A list of texts on one line. */
export function tomlList(texts: readonly string[]): string {
  return `[${texts.map(tomlString).join(', ')}]`
}

/** JSON's escapes are TOML's, but for the slash and what is above U+FFFF, which JSON.stringify leaves as it is. */
const tomlString = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007F')
