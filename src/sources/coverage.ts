/**
 * Which records of an older version the newer ones still hold. An entry is covered when a newer version has one of the same id
 * with all of its blocks, each as it was or with more text; one without an id when the same is said there as often. In hashes:
 * memory is a few bytes an entry, whatever it says.
 */
import type { Damage } from '../transcript/damage.ts'
import type { Session } from '../transcript/session.ts'
import { createKeySet, digestOf, isExtended, shapeOf, type Keyed, type Shape } from './entry-keys.ts'

/** Reads a version; as often as it is asked to. */
export type ReadVersion = () => AsyncIterable<Keyed>

export type Coverage = {
  /** Every entry and damage of the version, by key. */
  readonly keys: KeySet
  /** Of those, the ones that a newer version holds. */
  readonly covered: KeySet
  /** True when nothing in it is only there. */
  readonly isCovered: boolean
}

type KeySet = ReturnType<typeof createKeySet>

export type Newer = {
  readonly reads: readonly ReadVersion[]
  readonly said: KeySet
  readonly keys: KeySet
  /** The last facts of each session, by scope, those of newer versions first. */
  readonly facts: Map<string, Session>
}

export async function surveyNewest(read: ReadVersion): Promise<Newer> {
  const newer = {
    reads: [read],
    said: createKeySet(),
    keys: createKeySet(),
    facts: new Map<string, Session>(),
  }
  for await (const item of read()) note(item, newer)
  return newer
}

/** Entries of one version that changed under their id and are held to be looked for: past this many it counts as not covered. */
const MOST_PENDING = 200_000

/** Looks at a version older than those surveyed, and adds it to them. */
export async function surveyOlder(
  read: ReadVersion,
  newer: Newer,
): Promise<{ newer: Newer; coverage: Coverage }> {
  const keys = createKeySet()
  const covered = createKeySet()
  const own: Newer = { ...newer, reads: [...newer.reads, read], said: createKeySet(), keys, facts: new Map() }
  const pending = new Map<string, Shape>()
  let isCovered = true
  for await (const item of read()) {
    note(item, own)
    if (item.type === 'session') continue
    if (isThere(item, newer)) covered.add(item.key)
    else if (item.type === 'entry' && newer.keys.has(item.key) && pending.size < MOST_PENDING) {
      pending.set(item.key, shapeOf(item.entry))
    } else if (item.type === 'entry' || !isPassing(item.damage)) isCovered = false
  }
  for (const again of pending.size > 0 ? newer.reads : []) {
    for await (const item of again()) {
      const shape = item.type === 'entry' ? pending.get(item.key) : undefined
      if (shape === undefined || item.type !== 'entry' || !isExtended(shape, item.entry)) continue
      covered.add(item.key)
      pending.delete(item.key)
    }
  }
  isCovered &&=
    pending.size === 0 && [...own.facts].every(([scope, facts]) => hasFacts(newer.facts.get(scope), facts))
  return { newer: join(newer, own), coverage: { keys, covered, isCovered } }
}

function note(item: Keyed, { said, keys, facts }: Newer): void {
  if (item.type === 'session') {
    facts.set(item.scope, item.facts)
    return
  }
  keys.add(item.key)
  if (item.type === 'entry') said.add(saidKey(item))
}

function isThere(item: Exclude<Keyed, { type: 'session' }>, newer: Newer): boolean {
  return item.type === 'damage' ? newer.keys.has(item.key) : newer.said.has(saidKey(item))
}

/** The same, said under the same id or for the same time. */
function saidKey({ scope, key, entry }: Extract<Keyed, { type: 'entry' }>): string {
  return key.startsWith('said') ? key : digestOf(scope, entry)
}

/** What a writer had not finished when the file was kept holds nothing that the whole record lacks. */
export function isPassing({ kind }: Damage): boolean {
  return kind === 'torn' || kind === 'nul' || kind === 'missing'
}

/** Facts change; that one was stated does not. */
function hasFacts(now: Session | undefined, facts: Session): boolean {
  return now !== undefined && Object.keys(facts).every((key) => key in now)
}

function join(newer: Newer, own: Newer): Newer {
  const facts = new Map(newer.facts)
  for (const [scope, session] of own.facts) facts.set(scope, { ...session, ...facts.get(scope) })
  const either = (one: KeySet, other: KeySet): KeySet => ({
    add: (key) => one.add(key),
    has: (key) => one.has(key) || other.has(key),
  })
  return {
    reads: own.reads,
    said: either(newer.said, own.said),
    keys: either(newer.keys, own.keys),
    facts,
  }
}
