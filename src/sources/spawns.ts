/**
 * Which call of a session started another one, told by the entries as they pass: `metadata.spawned` names what was started, and the
 * call is that of the entry itself, of its result, or the one that `metadata.spawnedBy` names. Both sessions may lie in different
 * files, which are read apart.
 */
import type { Entry } from '../transcript/entry.ts'
import { heldId, heldName } from '../transcript/held-text.ts'
import type { Json } from '../transcript/json.ts'

type At = Pick<Entry, 'source' | 'sequence'>

export type SpawnFold = {
  observe(entry: Entry): void
  /** By the started session's id: the entry with the call. */
  readonly spawns: ReadonlyMap<string, At>
}

/** Calls that may still be answered, at most; and sessions that one starts. A hostile file may have any number. */
const MOST_CALLS = 1000
export const MOST_SPAWNS = 10_000
const ID_LENGTH = 200

export function createSpawnFold(): SpawnFold {
  const calls = new Map<string, At>()
  const spawns = new Map<string, At>()
  /** The last entry with a call, for results that name none. */
  let last: At | undefined

  const observeCalls = (entry: Entry): boolean => {
    let isCall = false
    for (const block of entry.blocks) {
      if (block.type !== 'tool-call') continue
      isCall = true
      last = { source: heldName(entry.source), sequence: entry.sequence }
      if (block.callId === undefined) continue
      calls.set(heldId(block.callId), last)
      if (calls.size > MOST_CALLS) calls.delete(calls.keys().next().value as string)
    }
    return isCall
  }
  const find = ({ metadata, blocks, role, source, sequence }: Entry, isCall: boolean): At => {
    const own = { source: heldName(source), sequence }
    if (isCall) return own
    const result = blocks.find((block) => block.type === 'tool-result')
    const named = metadata?.['spawnedBy'] ?? result?.callId
    const call = typeof named === 'string' ? calls.get(heldId(named)) : undefined
    return call ?? (role === 'tool' && last?.source === own.source ? last : own)
  }

  return {
    spawns,
    observe(entry) {
      const isCall = observeCalls(entry)
      const spawned = entry.metadata?.['spawned']
      if (spawned === undefined) return
      const at = find(entry, isCall)
      for (const id of Array.isArray(spawned) ? spawned : [spawned])
        if (isId(id) && !spawns.has(id) && spawns.size < MOST_SPAWNS) spawns.set(id, at)
    },
  }
}

const isId = (id: Json): id is string => typeof id === 'string' && id !== '' && id.length <= ID_LENGTH
