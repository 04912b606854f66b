/**
 * One text of one entry, a piece at a time, however long it is. The entry that was asked for last is held, without secrets, for whoever
 * reads on; looking for secrets in fifty megabytes takes seconds, which is why this is done in a thread of its own.
 */
import type { Archive } from '../archive/archive.ts'
import { toJson } from '../transcript/json.ts'
import { readEntries, type Readable } from './outline-read.ts'

/** What can be sent to a thread. */
export type TextAsked = {
  readonly outline: Omit<Readable, 'archive' | 'readAll'>
  readonly position: number
  /** Of the field in the entry, such as `blocks.0.output`. */
  readonly path: string
  /** In UTF-16 code units. */
  readonly from: number
  readonly to: number
}

export type TextPiece = {
  /** Of the whole. */
  readonly length: number
  readonly from: number
  readonly to: number
  readonly text: string
}

export type Texts = {
  /** Undefined where there is no such entry, or no such field in it. */
  piece(asked: TextAsked): Promise<TextPiece | undefined>
}

export function createTexts(archive: Archive): Texts {
  let held: { readonly name: string; readonly text: Promise<string | undefined> } | undefined
  const textOf = (asked: TextAsked): Promise<string | undefined> => {
    const { outline, position, path } = asked
    const name = JSON.stringify([outline.name, outline.generation, position, path])
    if (held?.name !== name) held = { name, text: readText(archive, asked) }
    return held.text
  }
  return {
    async piece(asked) {
      const text = await textOf(asked).catch((error: unknown) => {
        held = undefined
        throw error
      })
      if (text === undefined) return undefined
      const from = wholeCharacter(text, Math.min(asked.from, text.length))
      const to = wholeCharacter(text, Math.max(from, Math.min(asked.to, text.length)))
      return { length: text.length, from, to, text: text.slice(from, to) }
    },
  }
}

/** Not between the halves of a pair: alone they are no characters. */
function wholeCharacter(text: string, end: number): number {
  const code = end === 0 ? 0 : text.charCodeAt(end - 1)
  return code >= 0xd800 && code < 0xdc00 && end < text.length ? end + 1 : end
}

async function readText(
  archive: Archive,
  { outline, position, path }: TextAsked,
): Promise<string | undefined> {
  const readable: Readable = { ...outline, archive, readAll: () => nothing() }
  for await (const { entry } of readEntries(readable, position, position + 1)) {
    const value = valueAt(entry, path)
    return value === undefined || typeof value === 'string' ? value : toJson(value)
  }
  return undefined
}

function valueAt(value: unknown, path: string): unknown {
  let at = value
  let rest = path
  while (rest !== '') {
    if (typeof at !== 'object' || at === null) return undefined
    // Keys may have dots in them: the longest that there is, is meant.
    const key = Object.keys(at)
      .filter((one) => rest === one || rest.startsWith(`${one}.`))
      .reduce<string | undefined>((best, one) => (one.length > (best?.length ?? -1) ? one : best), undefined)
    if (key === undefined) return undefined
    at = Reflect.get(at, key)
    rest = rest.slice(key.length + 1)
  }
  return at
}

async function* nothing(): AsyncGenerator<never> {}
