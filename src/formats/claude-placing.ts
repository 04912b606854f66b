/**
 * Where what a line says stands in its session: whose it is, the how many-eth of theirs, and by what id it goes. Ids are unique though
 * lines are copied.
 */
import { createSequence, PRIMARY, type Entry, type Origin } from '../transcript/entry.ts'
import type { Json } from '../transcript/json.ts'
import type { FactsFold } from './claude-facts.ts'
import type { LineEntry } from './claude-lines.ts'
import type { Spawns } from './claude-spawns.ts'
import { createRecentIds, type IdSet } from './id-set.ts'

export type Placing = {
  /** Gives what a line says its place. The same object, completed: a copy for each line would cost a tenth of reading. */
  readonly place: (
    said: LineEntry,
    source: string,
    uuid: Json | undefined,
    origin: Origin | undefined,
  ) => Entry
  /** The line's own id where it is the first to have it; a copied line is told by its place. */
  readonly toId: (uuid: Json | undefined, source: string, sequence: number) => string
  readonly nextSequence: (source: string) => number
  readonly seen: IdSet
}

type Options = {
  readonly isForFacts: boolean
  readonly facts: FactsFold
  readonly spawns: Spawns
  /** Told of each that gets its place. */
  readonly onPlaced: (source: string) => void
}

type Draft = { -readonly [K in keyof Entry]: Entry[K] }

export function createPlacing({ isForFacts, facts, spawns, onPlaced }: Options): Placing {
  const nextSequence = createSequence()
  const seen = createRecentIds()
  const toId: Placing['toId'] = (uuid, source, sequence) => {
    let id = typeof uuid === 'string' && uuid !== '' ? uuid : `${source}/${sequence}`
    if (seen.take(id)) return id
    id = `${source}/${sequence}`
    while (!seen.take(id)) id += '~'
    return id
  }
  return {
    nextSequence,
    seen,
    toId,
    place(said, source, uuid, origin) {
      if (said.at !== undefined) facts.observeTime(said.at)
      const sequence = nextSequence(source)
      const id = toId(uuid, source, sequence)
      if (!isForFacts) keepId(said, uuid, { id, source, sequence })
      if (sequence === 0 && source !== PRIMARY) {
        const spawn = spawns.find(source, said.blocks)
        if (spawn !== undefined) {
          keep(said, 'parentSource', spawn.source)
          keep(said, 'spawnedBy', spawn.callId)
        }
      }
      onPlaced(source)
      const entry = said as Draft
      entry.id = id
      entry.source = source
      entry.sequence = sequence
      if (origin !== undefined) entry.origin = origin
      return entry
    },
  }
}

/** A line's own id, where the entry goes by another. */
function keepId(
  said: LineEntry,
  uuid: Json | undefined,
  { id, source, sequence }: Pick<Entry, 'id' | 'source' | 'sequence'>,
): void {
  if (typeof uuid !== 'string' || uuid === '') return
  const isKept = said.kind === 'message' || said.metadata?.['lifted'] !== undefined
  if (isKept && (uuid !== id || isNumbered(id, source, sequence))) keep(said, 'uuid', uuid)
}

function isNumbered(id: string, source: string, sequence: number): boolean {
  return id.length < source.length + 20 && id === `${source}/${sequence}`
}

/** Names of ours in metadata that the line's entry alone has. */
export function keep(said: LineEntry, name: string, value: Json): void {
  said.metadata ??= Object.create(null) as Record<string, Json>
  said.metadata[name] = value
}
