/** Small numbers and words that stand for an entry in the index. */
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { VERSION } from '../version.ts'
import { fieldValues } from './match-fields.ts'

/** The facts that a search may ask for, as words of their own kind, with a sign in them that no word of a text has: `tool:bash`. */
export function facetsOf(entry: Entry): string[] {
  const facets = new Set<string>([EVERY])
  for (const field of FACETS)
    for (const value of fieldValues(field, entry, NO_SESSION)) facets.add(facet(field, value))
  if (entry.model === undefined && entry.role === 'assistant') facets.add(MODEL_OF_SESSION)
  return [...facets]
}

/** What every entry has. */
export const EVERY = 'every:'

/** Fields that are a matter of the entry alone. */
export const FACETS = ['role', 'source', 'tool', 'has', 'model'] as const
export type FacetField = (typeof FACETS)[number]

/** An entry whose model only its session knows. */
export const MODEL_OF_SESSION = 'model='

const NO_SESSION: Session = { id: '', status: 'completed' }
/** A name that is longer is no name. */
const LONGEST = 1000

export function facet(field: FacetField, value: string): string {
  return `${field}:${value
    .toLowerCase()
    .slice(0, LONGEST)
    .replace(SEPARATORS, (sign) => `%${sign.charCodeAt(0)};`)}`
}

export function valueOfFacet(facet: string): string {
  const value = facet.slice(facet.indexOf(':') + 1)
  return value.replace(/%(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}

/** What ends a word in the index, and what stands for it. */
const SEPARATORS = /[\0- '%\x7f]/g

const MASK = 0xffff_ffff_ffff_ffffn
const PRIME = 0x0100_0193

/** The same for an entry in every recording of its session. */
export function identityOf({ source, id }: Pick<Entry, 'source' | 'id'>): bigint {
  return toHash(`${source}\n${id}`)
}

export function toHash(text: string): bigint {
  return ((BigInt(hash(text, 0x811c_9dc5)) << 32n) | BigInt(hash(text, 0x2545_f491))) & MASK
}

/** FNV-1a over code units. */
function hash(text: string, seed: number): number {
  let value = seed
  for (let at = 0; at < text.length; at += 1) {
    value ^= text.charCodeAt(at)
    value = Math.imul(value, PRIME)
  }
  return value >>> 0
}

/** Another program may cut texts into other words, or know other secrets: what it writes is never taken for what this one does. */
const SEED = hash(VERSION, 0x811c_9dc5)

/**
 * Stands for the texts and the facets of an entry, as it was read: another one when a character differs. What is indexed under it
 * need not be written again, and of the entries that a few bytes of a log are read as, it tells the one that was indexed.
 */
export function markOf(texts: readonly string[], facets: readonly string[]): number {
  let value = SEED ^ texts.length
  for (const facet of facets) value = hash(facet, Math.imul(value ^ facet.length, PRIME))
  for (const text of texts) value = hash(text, Math.imul(value ^ text.length, PRIME))
  return value >>> 0
}
