/**
 * Which records of an older version the newer ones still hold. An entry is covered when a newer version has one of the same id
 * with all of its blocks, each as it was or with more text; one without an id when the same is said there as often. In hashes:
 * memory is a few bytes an entry, whatever it says.
 */
import type { Damage } from '../transcript/damage.ts'
import type { Session } from '../transcript/session.ts'
import { bothReports, reportHash, reportOf, saysMore, type Report } from './entry-reports.ts'
import { bothFacts } from './version-facts.ts'
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
  /** What is said beside each entry, with its key. */
  readonly reports: KeySet
  /** For each of `reads`, by key: what is to be said beside an entry of it, where an older version knew more. */
  readonly fuller: readonly Map<string, Report>[]
  /** The last facts of each session, by scope, those of newer versions first. */
  readonly facts: Map<string, Session>
  /** How many entries each session has, by scope. */
  readonly sizes: Map<string, number>
}

type Said = Omit<Newer, 'reads' | 'fuller'>

export async function surveyNewest(read: ReadVersion): Promise<Newer> {
  const newer = { reads: [read], fuller: [new Map<string, Report>()], ...nothing() }
  for await (const item of read()) note(item, newer)
  return newer
}

function nothing(): Said {
  const [said, keys, reports] = [createKeySet(), createKeySet(), createKeySet()]
  return { said, keys, reports, facts: new Map(), sizes: new Map() }
}

/** True when every entry of the version is in the other, as it is there, and the other has more. */
export async function isPartOf(read: ReadVersion, whole: Newer): Promise<boolean> {
  const keys = createKeySet()
  let size = 0
  for await (const item of read()) {
    if (item.type !== 'entry') continue
    if (!isThere(item, whole)) return false
    if (!keys.has(item.key)) size += 1
    keys.add(item.key)
  }
  return size < [...whole.sizes.values()].reduce((sum, of) => sum + of, 0)
}

/** Entries of one version that changed under their id and are held to be looked for: past this many it counts as not covered. */
const MOST_PENDING = 200_000

/** Looks at a version older than those surveyed, and adds it to them. */
export async function surveyOlder(
  read: ReadVersion,
  newer: Newer,
): Promise<{ newer: Newer; own: Pick<Newer, 'facts' | 'sizes'>; coverage: Coverage }> {
  const covered = createKeySet()
  const own = nothing()
  const { keys } = own
  const pending = new Map<string, Shape>()
  const untold = new Map<string, { readonly shape: Shape; readonly report: Report }>()
  const found = newer.fuller.map(() => new Map<string, Report>())
  let isCovered = true
  for await (const item of read()) {
    note(item, own)
    if (item.type === 'session') continue
    if (item.type === 'entry' && isUntold(item, newer)) {
      if (untold.size < MOST_PENDING) {
        untold.set(item.key, { shape: shapeOf(item.entry), report: reportOf(item.entry) })
      } else isCovered = false
    }
    if (isThere(item, newer)) covered.add(item.key)
    else if (item.type === 'entry' && newer.keys.has(item.key) && pending.size < MOST_PENDING) {
      pending.set(item.key, shapeOf(item.entry))
    } else if (item.type === 'entry' || !isPassing(item.damage)) isCovered = false
  }
  for (const [at, again] of pending.size > 0 || untold.size > 0 ? newer.reads.entries() : []) {
    for await (const item of again()) {
      if (item.type !== 'entry') continue
      const { key, entry } = item
      const shape = pending.get(key)
      if (shape !== undefined && isExtended(shape, entry)) {
        covered.add(key)
        pending.delete(key)
      }
      const before = untold.get(key)
      if (before === undefined || !isExtended(before.shape, entry)) continue
      // The newest that has it is the one that shows.
      untold.delete(key)
      const now = newer.fuller[at]?.get(key) ?? reportOf(entry)
      const both = bothReports(before.report, now)
      if (reportHash(both) === reportHash(now)) continue
      found[at]?.set(key, both)
      if (saysMore(both, now)) isCovered = false
    }
    if (pending.size === 0 && untold.size === 0) break
  }
  isCovered &&=
    pending.size === 0 && [...own.facts].every(([scope, facts]) => hasFacts(newer.facts.get(scope), facts))
  // Not in place: whoever asks may go on from the newer ones alone.
  const fuller = newer.fuller.map((of, at) => (found[at]?.size ? new Map([...of, ...found[at]]) : of))
  const all = { ...join(newer, own), reads: [...newer.reads, read], fuller: [...fuller, new Map()] }
  return { newer: all, own, coverage: { keys, covered, isCovered } }
}

function note(item: Keyed, { said, keys, reports, facts, sizes }: Said): void {
  if (item.type === 'session') {
    facts.set(item.scope, item.facts)
    return
  }
  if (item.type === 'entry') {
    said.add(saidKey(item))
    if (!keys.has(item.key)) sizes.set(item.scope, (sizes.get(item.scope) ?? 0) + 1)
    const report = reportHash(reportOf(item.entry))
    if (report !== undefined) reports.add(`${item.key}\0${report}`)
  }
  keys.add(item.key)
}

/** Something is said beside it, and no newer version says just that. */
function isUntold({ key, entry }: Extract<Keyed, { type: 'entry' }>, { keys, reports }: Newer): boolean {
  const report = keys.has(key) ? reportHash(reportOf(entry)) : undefined
  return report !== undefined && !reports.has(`${key}\0${report}`)
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

/** Facts change; that one was stated does not, nor how far the session went. */
function hasFacts(now: Session | undefined, facts: Session): boolean {
  if (now === undefined || !Object.keys(facts).every((key) => key in now)) return false
  const { startedAt, endedAt } = bothFacts(facts, now)
  return startedAt === now.startedAt && endedAt === now.endedAt
}

function join(newer: Said, own: Said): Said {
  const facts = new Map(newer.facts)
  for (const [scope, session] of own.facts) {
    const now = facts.get(scope)
    facts.set(scope, now === undefined ? session : bothFacts(session, now))
  }
  const either = (one: KeySet, other: KeySet): KeySet => ({
    add: (key) => one.add(key),
    has: (key) => one.has(key) || other.has(key),
  })
  return {
    said: either(newer.said, own.said),
    keys: either(newer.keys, own.keys),
    reports: either(newer.reports, own.reports),
    facts,
    sizes: newer.sizes,
  }
}
