/**
 * Which entry it is among those of all recordings of its session, in eight bytes: the rule of `show` (sources/one-session.ts), so that
 * what is shown once is found once. An id of its own tells an entry from others; where the id is only its place, what it says does.
 */
import { hasOwnId, type Entry } from '../transcript/entry.ts'
import { toHash } from './doc-facts.ts'

/** The two lowest bits of an identity: that it is of what the entry says; and that its id is more than its place. */
const SAID = 1n
const MOVED = 2n

export function identityOf(entry: Entry): bigint {
  const { source, id, sequence } = entry
  if (hasOwnId(entry)) return identityOfOwn(entry)
  return (hashSaid(entry) & ~MOVED) | SAID | (id === `${source}/${sequence}` ? 0n : MOVED)
}

/** Where the id is one of its own. */
export function identityOfOwn({ source, id }: Pick<Entry, 'source' | 'id'>): bigint {
  return toHash(source, '\n', id) & ~(SAID | MOVED)
}

/** The id of an entry of which the index knows the place; undefined when that is not enough to tell. */
export function idOfPlace(
  identity: bigint,
  { source, sequence }: Pick<Entry, 'source' | 'sequence'>,
): string | undefined {
  return (identity & (SAID | MOVED)) === SAID ? `${source}/${sequence}` : undefined
}

/** Asked for each recording in turn, in the order in which they are shown; then for each of its entries: whether none before is the same. */
export function createJoin(): () => (identity: bigint) => boolean {
  const seen = new Set<bigint | string>()
  return () => {
    const times = new Map<bigint, number>()
    return (identity) => {
      let key: bigint | string = identity
      if ((identity & SAID) !== 0n) {
        // What is said several times in one recording is as many entries.
        const said = identity | MOVED
        const before = times.get(said) ?? 0
        times.set(said, before + 1)
        key = before === 0 ? said : `${said} ${before}`
      }
      if (seen.has(key)) return false
      seen.add(key)
      return true
    }
  }
}

/** The same for entries of which `digestOf` (sources/entry-keys.ts) is the same, and no string is made for it, however large they are. */
function hashSaid({ source, at, kind, role, blocks, metadata }: Entry): bigint {
  start()
  mixJson([source, at ?? null, kind, role ?? null, blocks.length > 0 ? blocks : (metadata ?? null)])
  return hashed()
}

/** By a stack of our own: hostile values are deeper than the machine's. */
function mixJson(value: unknown): void {
  const stack: unknown[] = [value]
  while (stack.length > 0) {
    const next = stack.pop()
    if (typeof next === 'string') mix(next, STRING)
    else if (Array.isArray(next)) {
      mix('', LIST + next.length)
      for (let at = next.length - 1; at >= 0; at -= 1) stack.push(next[at])
    } else if (typeof next === 'object' && next !== null) {
      const fields = Object.entries(next).filter(([, field]) => field !== undefined)
      mix('', OBJECT + fields.length)
      for (const [name, field] of fields.toReversed()) stack.push(field, name)
    }
    // Larger than any number, as 1e999 is read: JSON has it as null.
    else if (typeof next === 'number' && !Number.isFinite(next)) mix('null', OTHER)
    else mix(String(next), OTHER)
  }
}

/** What each kind of value begins with. */
const [STRING, OTHER, LIST, OBJECT] = [0x10_0000, 0x20_0000, 0x4000_0000, 0x2000_0000]

let one = 0
let other = 0

function start(): void {
  one = 0x811c_9dc5
  other = 0x2545_f491
}

function mix(text: string, kind: number): void {
  let [a, b] = [Math.imul(one ^ kind, 0x0100_0193), Math.imul(other ^ kind, 0x85eb_ca6b)]
  a = Math.imul(a ^ text.length, 0x0100_0193)
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x0100_0193)
    b = Math.imul((b ^ code) + (b >>> 15), 0x85eb_ca6b)
  }
  one = a
  other = b
}

function hashed(): bigint {
  return (BigInt(one >>> 0) << 32n) | BigInt((other ^ (other >>> 16)) >>> 0)
}
