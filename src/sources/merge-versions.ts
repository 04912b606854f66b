/**
 * Versions of a unit as one: what the newest holds, and in between, where it stood, what only older ones do. Entries keep the
 * place that the oldest version gave them, so that what was cited stays where it was. Numbers are dense again. Memory is the keys.
 */
import type { ReadItem } from '../formats/format.ts'
import { createSequence, hasOwnId, type Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { createKeySet, type Keyed } from './entry-keys.ts'
import { withReport, type Report } from './entry-reports.ts'
import { isPassing, type Coverage, type ReadVersion } from './coverage.ts'

/** An older version and what is known of it; the newest has no coverage. */
export type Version = {
  readonly read: ReadVersion
  /** Of all that is in it. */
  readonly keys: Coverage['keys']
  readonly coverage?: Coverage
  /** What is to be said beside its entries, by key, where an older version knew more of them. */
  readonly fuller?: ReadonlyMap<string, Report>
}

/** An entry or damage in its place. `isShown`: no newer version has it. */
type Step = Exclude<Keyed, { type: 'session' }> & { readonly version: number; readonly isShown: boolean }

const BATCH = 256

/** Versions from the oldest on. `facts`: the last of each session, by scope, the newest first. */
export async function* mergeVersions(
  versions: readonly Version[],
  facts: ReadonlyMap<string, Session>,
): AsyncGenerator<readonly ReadItem[]> {
  let steps: AsyncGenerator<Step> | undefined
  const known: Coverage['keys'][] = []
  for (const [at, version] of versions.entries()) {
    const own = toSteps(version, at)
    steps = steps === undefined ? own : merge(steps, own, { known: [...known], keys: version.keys })
    known.push(version.keys)
  }
  let batch: ReadItem[] = []
  let scope: string | undefined
  const place = createPlace()
  for await (const step of steps ?? []) {
    if (!step.isShown) continue
    if (step.scope !== scope && step.session !== '') {
      scope = step.scope
      const last = facts.get(scope)
      if (last !== undefined) batch.push({ type: 'session', session: inFormat(scope, last) })
    }
    batch.push(
      step.type === 'damage'
        ? { type: 'damage', damage: step.damage }
        : { type: 'entry', entry: place(step.session, step.version, step.entry) },
    )
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  // What the newest says comes last, and stays.
  const last = [...facts].toReversed()
  yield [
    ...batch,
    ...last.map(([of, session]): ReadItem => ({ type: 'session', session: inFormat(of, session) })),
  ]
}

/** Versions of a unit may be in different formats: each session says which it was read in. */
function inFormat(scope: string, session: Session): Session {
  return { ...session, recordings: [{ by: scope.slice(0, scope.indexOf('\0')) }] }
}

async function* toSteps({ read, coverage, fuller }: Version, version: number): AsyncGenerator<Step> {
  for await (const item of read()) {
    if (item.type === 'session') continue
    const isGone = coverage === undefined || !coverage.covered.has(item.key)
    const isOver = coverage !== undefined && item.type === 'damage' && isPassing(item.damage)
    const isShown = isGone && !isOver
    const report = isShown && item.type === 'entry' ? fuller?.get(item.key) : undefined
    const step = { ...item, version, isShown }
    yield step.type === 'entry' && report !== undefined
      ? { ...step, entry: withReport(step.entry, report) }
      : step
  }
}

/** `known`: keys of each version in the old run; `keys`: those of the new one. */
type Merging = { readonly known: readonly Coverage['keys'][]; readonly keys: Coverage['keys'] }

/**
 * Two runs as one: where both have an entry, all that stood before it in the old one comes first. What is new waits for no entry that is
 * yet to come in its own run.
 */
async function* merge(
  old: AsyncGenerator<Step>,
  now: AsyncGenerator<Step>,
  { known, keys }: Merging,
): AsyncGenerator<Step> {
  const passed = createKeySet()
  // One that another version has instead may be that of the old run.
  const isBefore = ({ key, isShown }: Step): boolean => isShown || !keys.has(key) || passed.has(key)
  let next = await old.next()
  try {
    for await (const step of now) {
      const isKnown = known.some((older) => older.has(step.key)) && !passed.has(step.key)
      while (next.done !== true && (isKnown ? !passed.has(step.key) : isBefore(next.value))) {
        passed.add(next.value.key)
        yield next.value
        next = await old.next()
      }
      yield step
    }
    for (; next.done !== true; next = await old.next()) yield next.value
  } finally {
    await old.return(undefined)
  }
}

/**
 * Numbers and ids anew: an id that is a place follows it, and one that two versions gave to different entries is told apart.
 * `version`: any number for what gave the entry its id.
 */
export function createPlace(): (session: string, version: number, entry: Entry) => Entry {
  const sequences = new Map<string, (source: string) => number>()
  const taken = createKeySet()
  const moved = new Map<string, string>()
  return (session, version, entry) => {
    const next = sequences.get(session) ?? createSequence()
    sequences.set(session, next)
    const sequence = next(entry.source)
    let id = hasOwnId(entry) ? entry.id : `${entry.source}/${sequence}`
    while (taken.has(`${session}\0${id}`)) id += '~'
    taken.add(`${session}\0${id}`)
    if (id !== entry.id) moved.set(`${session}\0${version}\0${entry.id}`, id)
    const parent = entry.parent && (moved.get(`${session}\0${version}\0${entry.parent}`) ?? entry.parent)
    return { ...entry, id, sequence, ...(parent !== undefined && { parent }) }
  }
}
