/**
 * The archive searched: what the index has is looked up, what it does not have yet is read, and the answer is the same as if all
 * had been read. Says what it read. Any number of processes may search while one indexes.
 */
import { messageOf } from '../errors.ts'
import type { Archive } from '../archive/archive.ts'
import { isStateCurrent } from '../sources/current.ts'
import { citation, type Entry, type Role } from '../transcript/entry.ts'
import type { CatchUpOptions, CaughtUp } from './indexer.ts'
import { divide } from './divide.ts'
import { createHolding, MOST_SHOWN } from './held-entries.ts'
import { lookAhead } from './index-ranked.ts'
import { heldUnits, knownUnits, newestFirst } from './known-units.ts'
import { gatherNewest, gatherRanked, type Order } from './lookup.ts'
import { PATTERN_MS } from './match.ts'
import { openAll, type Opened } from './opened.ts'
import { createPlan, type Plan } from './plan.ts'
import type { Query } from './query.ts'
import { readEntry, readRecord, readTogether, type Located } from './resolve.ts'
import { isUnusable } from './shard.ts'
import type { ShardReader } from './shard-reader.ts'
import { indexStream, numberSession } from './index-stream.ts'
import { sessionStream, unitsStream } from './read-stream.ts'
import { describeArchive, findSpelling } from './search-about.ts'
import type { Hit, Scanned, Searching } from './searching.ts'
import { unitsOfSession } from './unit-list.ts'

export type SearchHit = {
  /** As people know it. */
  readonly session: string
  readonly source: string
  readonly sequence: number
  readonly citation: string
  readonly role?: Role
  readonly at?: string
  /** Of the session. */
  readonly title?: string
  readonly agent?: string
  readonly cwd?: string
  /** Higher is better; absent when ordered by time. */
  readonly score?: number
  readonly located: Located
  /** Where it was read to find it, and is not too large: see `SearchIndex.entry` and `SearchIndex.searched`. */
  readonly entry?: Entry
  readonly searched?: Entry
}

export type SearchResult = {
  readonly hits: readonly SearchHit[]
  /** How many there are; absent when not all were looked at. */
  readonly total?: number
  /** What was read because the index does not have it, or has no words to look the query up by. */
  readonly scanned: Readonly<Scanned>
  /** True when the deadline came first: there may be more. */
  readonly isPartial: boolean
  /** Units that could not be read. */
  readonly unreadable: readonly { readonly unit: string; readonly message: string }[]
  readonly tookMs: number
}

export type About = {
  readonly units: number
  readonly sessions: number
  readonly entries: number
  /** When the first began, and the last ended, as far as they say. */
  readonly since?: string
  readonly until?: string
}

export type SearchOptions = {
  readonly limit?: number
  readonly order?: Order
  /** Milliseconds since 1970: what was found until then is the answer. */
  readonly deadline?: number
  /** The id of the only session to look into. */
  readonly session?: string
  /** False: ends as soon as a unit has to be read through, as if it were late. */
  readonly mayRead?: boolean
}

export type SearchIndex = {
  search(query: Query, options?: SearchOptions): Promise<SearchResult>
  /** Whether the state knows all that there is to know: see `isCurrent` of the sources. */
  isCurrent(): Promise<boolean>
  /** All that there is to search. */
  about(): Promise<About>
  /** The word that is nearest to one that no entry has, of those that the index has; undefined for any other. */
  spelling(word: string): Promise<string | undefined>
  /** A hit's entry; undefined when it is gone. */
  entry(hit: SearchHit): Promise<Entry | undefined>
  /**
   * The same of several, of which only what searches look at need be there: its blocks, who said them and when. Several times faster,
   * and those of one unit are read together. The first, and as many of the others as may be held at once: what is gone, or cannot be
   * read, is not among them either.
   */
  searched(hits: readonly SearchHit[]): Promise<ReadonlyMap<SearchHit, Entry>>
  /** The bytes of the record that it was read from; undefined for rows of a database, and when it is gone. */
  record(hit: SearchHit): Promise<Buffer | undefined>
  /** Brings the index up to what the state knows. Nothing when it was opened to read. */
  catchUp(options?: CatchUpOptions): Promise<CaughtUp | undefined>
  close(): void
}

const LIMIT = 20

/** `write`: the index may be caught up, and built anew when it is damaged. */
export async function openSearchIndex(
  archive: Archive,
  { write = false }: { readonly write?: boolean } = {},
): Promise<SearchIndex> {
  let opened: Promise<Opened> | undefined
  const open = (): Promise<Opened> => (opened ??= openAll(archive))
  const close = (): void => {
    void opened?.then((all) => all.close())
    opened = undefined
  }
  await open()
  return {
    async search(query, options = {}) {
      for (let tries = 0; ; tries += 1) {
        const all = await open()
        // One that stays so, as a state of another version that nobody has built again, is asked as it is: closed, it could not be.
        if (all.isOutdated() && tries === 0) {
          close()
          continue
        }
        try {
          all.begin()
          try {
            return await searchOnce(archive, all, query, options)
          } finally {
            all.end()
          }
        } catch (error) {
          // A shard that is damaged, or was moved aside under us: the rest answers, and what it had is read.
          if (!isUnusable(error) || tries > MOST_SHARDS_LOST) throw error
          all.drop()
        }
      }
    },
    async isCurrent() {
      const { state } = await open()
      return state !== undefined && isStateCurrent(state, archive)
    },
    about: async () => describeArchive((await open()).state),
    spelling: async (word) => findSpelling(word, (await open()).readers),
    async entry(hit) {
      const entry = hit.entry ?? (await readEntry(archive, hit.located))
      return entry && named(entry, hit)
    },
    async searched(hits) {
      const entries = new Map<SearchHit, Entry>()
      const isHeld = createHolding(MOST_SHOWN)
      const wanted = hits.flatMap((hit) => {
        const known = hit.entry ?? hit.searched
        if (known !== undefined) entries.set(hit, named(known, hit))
        const take = (entry: Entry): void => {
          if (hit === hits[0] || isHeld(entry)) entries.set(hit, named(entry, hit))
        }
        return known === undefined ? [{ located: hit.located, isShown: true, take }] : []
      })
      await readTogether(archive, wanted, { isLate: () => false, onUnreadable: () => {} })
      return entries
    },
    record: (hit) => readRecord(archive, hit.located),
    async catchUp(options) {
      if (!write || archive.readOnly) return undefined
      // Those who only search load nothing that writes.
      const { catchUpIndex } = await import('./indexer.ts')
      const done = await catchUpIndex(archive, options)
      if (done.units > 0) close()
      return done
    },
    close,
  }
}

const MOST_SHARDS_LOST = 2
/** What a pattern may take over one entry, however near the deadline is. */
const LEAST_PATTERN_MS = 50

function named(entry: Entry, { sequence }: SearchHit): Entry {
  return { ...entry, sequence }
}

async function searchOnce(
  archive: Archive,
  opened: Opened,
  query: Query,
  {
    limit = LIMIT,
    order: asked = 'newest',
    deadline = Number.POSITIVE_INFINITY,
    session,
    mayRead = true,
  }: SearchOptions,
): Promise<SearchResult> {
  const started = process.hrtime.bigint()
  const { state, readers } = opened
  const scanned: Scanned = { units: 0, bytes: 0, entries: 0 }
  /** By unit, which may be come to several times. */
  const messages = new Map<string, string>()
  // Not of `performance`, which is a module that a search from a cold start would load for it.
  const tookMs = (): number => Number(process.hrtime.bigint() - started) / 1e6
  if (state === undefined)
    return { hits: [], total: 0, scanned, isPartial: false, unreadable: [], tookMs: tookMs() }
  const { database } = state
  const patternMs = Math.min(PATTERN_MS, Math.max(LEAST_PATTERN_MS, deadline - Date.now()))
  const plan = within(createPlan(query, { patternMs }), session)
  const order = plan.canRank ? asked : 'newest'
  const { view, facts, numbers } = opened.known()
  const searching: Searching = {
    archive,
    state: database,
    view,
    plan,
    limit,
    order,
    scanned,
    isLate: () => Date.now() >= deadline || (!mayRead && scanned.units > 0),
    worst: Number.POSITIVE_INFINITY,
    hope: Number.POSITIVE_INFINITY,
    onUnreadable: (unit, error) => void messages.set(unit.name, messageOf(error)),
    ...facts,
    numbered(key, unit, doc) {
      const known =
        numbers.get(key) ?? numberSession(key, unitsOfSession(database, archive.home, key), readers)
      numbers.set(key, known)
      return known.get(`${unit}\n${doc}`)
    },
  }
  const streams = streamsOf(archive, readers, searching)
  if (order === 'ranked') lookAhead(streams, searching)
  const { hits, isAll, isLate } =
    order === 'newest'
      ? await gatherNewest(streams, limit, searching.isLate)
      : await gatherRanked(streams, limit, searching.isLate, (worst) => (searching.worst = worst))
  return {
    hits: hits.map((hit) => toSearchHit(hit, order)),
    ...(isAll && !isLate && { total: hits.length }),
    scanned,
    isPartial: isLate,
    unreadable: [...messages].map(([unit, message]) => ({ unit, message })),
    tookMs: tookMs(),
  }
}

function within(plan: Plan, id: string | undefined): Plan {
  if (id === undefined) return plan
  return { ...plan, session: (session) => session.id === id && plan.session(session) }
}

function streamsOf(archive: Archive, readers: readonly ShardReader[], searching: Searching) {
  const { view, plan, state } = searching
  const apart = [...view.apart].map((key) => sessionStream(key, searching))
  if (plan.canLookUp) {
    const divided = readers.map((reader) => divide(reader, searching))
    const indexed = readers.map((reader, at) => indexStream(reader, searching, divided[at]?.pages))
    const whole = divided.flatMap(({ units }) => units.map((unit) => ({ unit, shard: undefined })))
    const read = [view.pending, heldUnits(whole.toSorted(newestFirst))]
    return [...indexed, ...read.map((units) => unitsStream(units, searching)), ...apart]
  }
  // Nothing to look up: everything is read, the newest first.
  const several = [...view.several].filter((key) => !view.apart.has(key))
  const all = { ...searching, view: { ...view, apart: view.several } }
  return [
    unitsStream(knownUnits(state, archive.home).left(), all),
    ...several.map((key) => sessionStream(key, all)),
    ...apart,
  ]
}

function toSearchHit(hit: Hit, order: Order): SearchHit {
  const { session, source, sequence, role, at, hasAt, score, located, entry, searched } = hit
  return {
    session: session.id,
    source,
    sequence,
    citation: citation(session.id, { source, sequence }),
    ...(role !== undefined && { role }),
    ...(hasAt && { at: new Date(at).toISOString() }),
    ...(session.title !== undefined && { title: session.title }),
    ...(session.agent !== undefined && { agent: session.agent }),
    ...(session.cwd !== undefined && { cwd: session.cwd }),
    ...(order === 'ranked' && { score: -score }),
    located,
    ...(entry !== undefined && { entry }),
    ...(searched !== undefined && { searched }),
  }
}
