/** Small numbers and words that stand for an entry in the index. */
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { filesOf } from '../transcript/tool-files.ts'
import { VERSION } from '../version.ts'
import { fieldValues } from './match-fields.ts'
import { areLarge, hashLarge } from './large-texts.ts'
import { HALF } from './words-fold.ts'
import { encodeTexts, hashTexts, type TextBytes } from './text-bytes.ts'

/** The facts that a search may ask for, as words of their own kind, with a sign in them that no word of a text has: `tool:bash`. */
export function facetsOf(entry: Entry): string[] {
  const facets = [EVERY]
  for (const field of FACETS) {
    for (const value of fieldValues(field, entry, NO_SESSION)) {
      const one = facet(field, value)
      if (!facets.includes(one)) facets.push(one)
    }
  }
  if (entry.model === undefined && entry.role === 'assistant') facets.push(MODEL_OF_SESSION)
  addFiles(facets, filesOf(entry))
  return facets
}

/** What every entry has. */
export const EVERY = 'every:'

/** Fields that are a matter of the entry alone. */
export const FACETS = ['role', 'source', 'tool', 'has', 'model'] as const
export type FacetField = (typeof FACETS)[number]

/** An entry of which the index has every word, but not where they stand; and one of which it has none. Both are read. */
export const LARGE_WORDS = 'size:large'
export const LARGE_UNTOLD = 'size:untold'

/** An entry whose model only its session knows. */
export const MODEL_OF_SESSION = 'model='

/** What begins the facet of a file that an entry's tools name; and an entry of whose files the index does not know all. */
export const FILE = 'file:'
export const FILES_UNTOLD = 'file='

/** What facets begin with, as far as a word of a text could as well. */
const NAMES: readonly string[] = [EVERY.slice(0, -1), ...FACETS, 'file', 'size']

/** True when a facet begins so: who asks for words that do has to say that no facet is meant. */
export function beginsFacet(text: string): boolean {
  return NAMES.some((name) => name.startsWith(text))
}

const NO_SESSION: Session = { id: '', status: 'completed' }
/** A name that is longer is no name. */
const LONGEST = 1000
/** A call that names more of them is about a folder, or hostile. */
const MOST_FILES = 64

export function facet(field: FacetField, value: string): string {
  const known = KNOWN[field]
  const there = known.get(value)
  if (there !== undefined) return there
  const made = `${field}:${inFacet(value.toLowerCase().slice(0, LONGEST))}`
  if (known.size >= MOST_KNOWN) known.clear()
  if (value.length <= LONGEST) known.set(value, made)
  return made
}

/** Most entries have what others had. */
const KNOWN: Readonly<Record<FacetField, Map<string, string>>> = {
  role: new Map(),
  source: new Map(),
  tool: new Map(),
  has: new Map(),
  model: new Map(),
}
const MOST_KNOWN = 500

function addFiles(facets: string[], files: readonly string[]): void {
  const told = files.slice(0, MOST_FILES).filter((file) => file.length <= LONGEST && !HALF.test(file))
  for (const file of told) {
    const one = FILE + inFacet(file.toLowerCase())
    if (!facets.includes(one)) facets.push(one)
  }
  if (told.length < files.length) facets.push(FILES_UNTOLD)
}

/** As it stands in a facet: what a text has within, its facet has. In lower case already. */
export function inFacet(text: string): string {
  return text.replace(SEPARATORS, (sign) => `%${sign.charCodeAt(0)};`)
}

export function valueOfFacet(facet: string): string {
  const value = facet.slice(facet.indexOf(':') + 1)
  return value.replace(/%(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}

/** What ends a word in the index, and what stands for it. */
const SEPARATORS = /[\0- '%\x7f]/g

const PRIME = 0x0100_0193

/** Twice FNV-1a over code units. */
export function toHash(...texts: readonly string[]): bigint {
  start()
  for (const text of texts) mix(text)
  return hashed()
}

/** Both halves, and the same memory as one number: to put them together in any other way takes longer than the hash. */
const halves = new Uint32Array(2)
const both = new BigUint64Array(halves.buffer)
const [LOW, HIGH] = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? [0, 1] : [1, 0]

function start(): void {
  halves[HIGH] = 0x811c_9dc5
  halves[LOW] = 0x2545_f491
}

function mix(text: string): void {
  let high = halves[HIGH] as number
  let low = halves[LOW] as number
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, PRIME)
    low = Math.imul(low ^ code, PRIME)
  }
  halves[HIGH] = high
  halves[LOW] = low
}

function hashed(): bigint {
  return both[0] as bigint
}

/** FNV-1a over code units. */
function hash(text: string, seed: number): number {
  let value = seed
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), PRIME)
  return value >>> 0
}

/** Another program may cut texts into other words, or know other secrets: what it writes is never taken for what this one does. */
const SEED = hash(VERSION, 0x811c_9dc5)

/**
 * Stands for the texts and the facets of an entry, as it was read: another one when a character differs. What is indexed under it
 * need not be written again, and of the entries that a few bytes of a log are read as, it tells the one that was indexed.
 */
export function markOf(texts: TextBytes, facets: readonly string[]): number {
  return hashTexts(texts, hashFacets(facets))
}

/** The same for texts that nobody has encoded yet, of any size. */
export function markOfTexts(texts: readonly string[], facets: readonly string[]): number {
  return areLarge(texts) ? markOfLarge(texts, facets) : markOf(encodeTexts(texts), facets)
}

export function markOfLarge(texts: readonly string[], facets: readonly string[]): number {
  return hashLarge(texts, hashFacets(facets))
}

function hashFacets(facets: readonly string[]): number {
  let value = SEED
  for (const facet of facets) value = hash(facet, Math.imul(value ^ facet.length, PRIME))
  return value
}
