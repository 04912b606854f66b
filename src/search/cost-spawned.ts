/**
 * What the subagents of a session cost, each under the call that started it: those within its log, and sessions of their own. What one
 * started counts as a part of it, through any number of generations.
 */
import { sumQuality, worseOf } from '../replay/marks.ts'
import type { Database } from '../sqlite/driver.ts'
import { citation, parseCitation, PRIMARY, type Entry } from '../transcript/entry.ts'
import type { ListedSession } from '../sources/state-sessions.ts'
import type { Quality } from '../transcript/usage.ts'
import { createPayers } from './cost-sessions.ts'

/** US dollars × 10⁻¹² and calls on the bills of it and of all that it started. */
export type SpawnedCost = {
  /** The citation of the call that started it; absent where nobody said which. */
  readonly by?: string
  /** A subagent within the log, or a session of its own. */
  readonly source?: string
  readonly session?: string
  readonly title?: string
  readonly calls: number
  readonly pico?: bigint
  /** The worst in it; absent where all is as the provider reported it. */
  readonly quality?: Quality
  readonly spawned?: readonly SpawnedCost[]
}

export type SpawnedFold = {
  observe(entry: Entry): void
  /** A call that the session pays for. */
  billed(source: string, pico: bigint | undefined, quality?: Quality): void
  /** `started`: the sessions that this one started. */
  end(started: readonly StartedSession[]): readonly SpawnedCost[]
}

/** A hostile log may have any number of either. */
const MOST_CALLS = 100_000
const MOST_SOURCES = 10_000

type Subagent = {
  readonly parent: string
  readonly by?: string
  calls: number
  pico?: bigint
  quality?: Quality
}

export function createSpawnedFold(session: string): SpawnedFold {
  /** Where a tool call stands, by what names it. */
  const calls = new Map<string, string>()
  const subagents = new Map<string, Subagent>()

  return {
    observe(entry) {
      const { source, metadata, blocks } = entry
      if (source !== PRIMARY && !subagents.has(source) && subagents.size < MOST_SOURCES) {
        const { parentSource: parent, spawnedBy } = metadata ?? {}
        const by = typeof spawnedBy === 'string' ? calls.get(spawnedBy) : undefined
        subagents.set(source, {
          parent: typeof parent === 'string' && parent !== source ? parent : PRIMARY,
          ...(by !== undefined && { by }),
          calls: 0,
        })
      }
      for (const block of blocks)
        if (block.type === 'tool-call' && block.callId !== undefined && calls.size < MOST_CALLS)
          calls.set(block.callId, citation(session, entry))
    },
    billed(source, pico, quality) {
      const subagent = subagents.get(source)
      if (subagent === undefined) return
      subagent.calls += 1
      subagent.quality = worseOf(subagent.quality, quality)
      if (pico !== undefined) subagent.pico = (subagent.pico ?? 0n) + pico
    },
    end(started) {
      const seen = new Set<string>()
      const under = (parent: string): SpawnedCost[] => {
        const inside = [...subagents].filter(([source, one]) => one.parent === parent && !seen.has(source))
        for (const [source] of inside) seen.add(source)
        const own = inside.map(([source, { by, calls, pico, quality }]) => {
          const cost = { ...(pico !== undefined && { pico }), ...unlessReported(quality) }
          return withSpawned({ ...(by !== undefined && { by }), source, calls, ...cost }, under(source))
        })
        const apart = started.filter(({ by }) => sourceOf(by) === parent).map(toSpawned)
        return [...own, ...apart]
      }
      const found = under(PRIMARY)
      // What names a parent that is not in the log, or itself in a circle, still cost something.
      const left = [...subagents.keys()].filter((source) => !seen.has(source))
      return [
        ...found,
        ...left.flatMap((source) => (seen.has(source) ? [] : under(subagents.get(source)?.parent ?? ''))),
      ]
    },
  }
}

function sourceOf(by: string | undefined): string {
  return (by === undefined ? undefined : parseCitation(by)?.source) ?? PRIMARY
}

function withSpawned(own: SpawnedCost, spawned: readonly SpawnedCost[]): SpawnedCost {
  if (spawned.length === 0) return own
  const calls = spawned.reduce((sum, one) => sum + one.calls, own.calls)
  const known = [own, ...spawned].flatMap(({ pico }) => pico ?? [])
  const quality = spawned.reduce((worst, one) => worseOf(worst, one.quality), worseOf(own.quality))
  return {
    ...own,
    calls,
    ...unlessReported(quality),
    ...(known.length > 0 && { pico: known.reduce((sum, pico) => sum + pico, 0n) }),
    spawned,
  }
}

const unlessReported = (quality: Quality | undefined): { readonly quality?: Quality } =>
  quality === undefined || quality === 'reported' ? {} : { quality }

/** A session that another one started, with those that it started in turn. */
export type StartedSession = {
  readonly by?: string
  readonly session: ListedSession
  readonly calls: number
  readonly pico?: bigint
  readonly quality?: Quality
  readonly started: readonly StartedSession[]
}

function toSpawned({ by, session, calls, pico, quality, started }: StartedSession): SpawnedCost {
  const title = session.title ?? session.prompt
  const own = {
    ...(by !== undefined && { by }),
    session: session.id,
    ...(title !== undefined && { title }),
    calls,
    ...(pico !== undefined && { pico }),
    ...unlessReported(quality),
  }
  return withSpawned(own, started.map(toSpawned))
}

/** With all that it started. */
export function sumStarted(session: StartedSession): Pick<SpawnedCost, 'calls' | 'pico' | 'quality'> {
  return toSpawned(session)
}

/** What a session started, at any depth. Forks and resumed sessions are their own. */
export function startedSessions(database: Database, key: string): readonly StartedSession[] {
  const payers = createPayers(database)
  const children = new Map<string, string[]>()
  const rows = database
    .prepare(
      `SELECT key FROM sessions WHERE json_extract(session, '$.parent') IS NOT NULL ORDER BY started_at, key`,
    )
    .lists()
  for (const [child] of rows) {
    const parent = payers.parent(String(child))
    if (parent === undefined) continue
    children.set(parent, [...(children.get(parent) ?? []), String(child)])
  }
  const listed = database.prepare('SELECT calls, pico FROM listing WHERE key = ?')
  const seen = new Set([key])
  const grow = (parent: string): readonly StartedSession[] =>
    (children.get(parent) ?? []).flatMap((child) => {
      const session = payers.session(child)
      if (session === undefined || seen.has(child)) return []
      seen.add(child)
      const { calls, pico } = listed.get(child) ?? {}
      const by = session.parent?.citation
      return {
        session,
        calls: Number(calls ?? 0),
        ...(by !== undefined && { by }),
        ...((typeof pico === 'number' || typeof pico === 'bigint') && { pico: BigInt(pico) }),
        ...(session.totals && unlessReported(sumQuality(session.totals))),
        started: grow(child),
      }
    })
  return grow(key)
}
