/**
 * Gives what a record says its place in the session: dense numbers, ids that are unique though records repeat them, and where
 * it was read. Memory is the ids, in a few bytes each.
 */
import { PRIMARY, createSequence, type Entry } from '../transcript/entry.ts'
import { createRecentIds } from './id-set.ts'

/** An entry before it has its place. `id` is the format's own, where it has one; without a source it is the main agent's. */
export type Said = Omit<Entry, 'id' | 'source' | 'sequence' | 'origin'> & {
  readonly id?: string
  readonly source?: string
}

/** A record of a file; `number` from 1, or 0 for what stands around a document's list. */
export type Place = {
  readonly file: string
  readonly number: number
  readonly byteOffset: number
  readonly byteLength: number
}

export type Placing = (said: Said, place: Place) => Entry

export function createPlacing(format: string): Placing {
  const nextSequence = createSequence()
  const seen = createRecentIds()
  return (said, { file, number, byteOffset, byteLength }) => {
    const { id: own, source = PRIMARY } = said
    const sequence = nextSequence(source)
    let id = own === undefined || own === '' || seen.has(own) ? `${source}/${sequence}` : own
    while (seen.has(id)) id += '~'
    seen.add(id)
    const origin = { format, file, record: number, byteOffset, byteLength }
    const entry = { id, source, sequence, ...said, origin }
    // Set once more, not left out of a copy: that copy would be most of the time.
    entry.id = id
    return entry
  }
}

/** Entire writes this word over ids that look like secrets: it names nothing, and many records share it. */
const REDACTED = 'REDACTED'

/** An id that tells records apart; undefined for what is none. */
export function asId(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== REDACTED && value.length <= ID_LENGTH
    ? value
    : undefined
}

/** Longer than any id; ids are held in memory, and a hostile file must not fill it with them. */
const ID_LENGTH = 256
