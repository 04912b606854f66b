/** In an exported file, what the page asks the server is answered from the file itself: the same names as in ../api.ts, as far as the reader of a session asks for them. */
import type {
  EntriesAnswer,
  FindAnswer,
  FindQuery,
  RangeQuery,
  RawAnswer,
  TextAnswer,
  TextQuery,
  TypingAnswer,
  TypingQuery,
} from '../../server/api.ts'
import type { Answer, AskOptions, Problem } from '../api.ts'
import * as data from './data.ts'
import { matcher } from './matching.ts'

export type { Answer, AskOptions, Problem }

/** There is nothing beyond this file: no other sessions, no server. */
export const isAlone = true
/** Of sessions that it started, those that there was room for. */
export const hasSession = data.hasSession

const NOT_HERE: Answer<never> = {
  ok: false,
  problem: { code: 'not-found', message: 'this is not in the exported file' },
}
const NO_RECORD: Answer<never> = {
  ok: false,
  problem: {
    code: 'not-found',
    message: 'its record is not in the exported file',
    hint: 'records over 64 kB are left out, and all after the first 16 MB; so is what lies in a database',
  },
}
const found = <T>(value: T | undefined): Answer<T> => (value === undefined ? NOT_HERE : { ok: true, value })
/** Not before whoever asks is ready to hear it. */
const later = async <T>(make: () => Answer<T>): Promise<Answer<T>> => {
  await new Promise((resolve) => setTimeout(resolve, 0))
  return make()
}

/** There is no list here. */
export const FIRST_SESSIONS = 0

/** Blocks that are looked through before the page may draw again. */
const AT_ONCE = 5
const BLOCK = 100

export const ask = {
  session: (id: string, _options?: AskOptions) => later(() => found(data.session(id))),
  outline: (id: string, _query: RangeQuery, _options?: AskOptions) => later(() => found(data.outline(id))),
  insight: (id: string, _options?: AskOptions) => later(() => found(data.insight(id))),
  entries: (id: string, { from = '0', to = '0' }: RangeQuery, _options?: AskOptions) =>
    later((): Answer<EntriesAnswer> => {
      const rows = data.entries(id, Number(from), Number(to))
      const { length = 0, damageAtEnd } = data.about(id) ?? {}
      const isEnd = Number(to) >= length && damageAtEnd !== undefined
      return found({ from: Number(from), length, entries: rows, ...(isEnd && { damageAtEnd }) })
    }),
  entry: (id: string, position: number, _options?: AskOptions) =>
    later(() => found(data.entries(id, position, position + 1)[0])),
  raw: (id: string, position: number, _options?: AskOptions) =>
    later((): Answer<RawAnswer> => {
      const record = data.raw(id, position)
      return record === undefined ? NO_RECORD : { ok: true, value: record }
    }),
  text: (_id: string, _position: number, _query: TextQuery, _options?: AskOptions) =>
    later((): Answer<TextAnswer> => NOT_HERE),
  typing: (_id: string, _query: TypingQuery, _options?: AskOptions) =>
    later((): Answer<TypingAnswer> => NOT_HERE),
  async find(
    id: string,
    { q, from = '0', limit = '10000' }: FindQuery,
    options?: AskOptions,
  ): Promise<Answer<FindAnswer>> {
    const length = data.about(id)?.length ?? 0
    const matches = matcher(q)
    const positions: number[] = []
    for (let at = Number(from); at < length; at += BLOCK) {
      if (at % (BLOCK * AT_ONCE) === 0) await new Promise((resolve) => setTimeout(resolve, 0))
      if (options?.signal?.aborted) return { ok: false, problem: { code: 'aborted', message: '' } }
      for (const { position, entry } of data.entries(id, at, at + BLOCK))
        if (matches(entry)) positions.push(position)
      if (positions.length >= Number(limit)) return found({ positions, next: at + BLOCK })
    }
    return found({ positions })
  },
} as const

export const exportUrl = (): string => ''
export const textUrl = (): string => ''
export const blobUrl = (hash: string): string => data.blob(hash) ?? ''
