/**
 * What events of a rollout say about calls, put where a reader looks for it: on the call's result how long it took and which event holds
 * the edits it made; on the call's result or the event which session it started. Events come before the result that they speak of.
 */
import type { Entry } from '../transcript/entry.ts'
import {
  asNumber,
  asObject,
  asString,
  isObject,
  parseJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { isUuid } from '../transcript/ids.ts'
import { toSessionId } from './codex-facts.ts'
import { asId } from './placing.ts'

type Draft = { -readonly [K in keyof Entry]: Entry[K] }

export type CallLinks = {
  /** In the order of the file, before the entry is handed on. */
  observe(line: Json, entry: Draft): void
  /** The threads that were started, each with the number of the entry that asked for it. */
  readonly spawns: ReadonlyMap<string, number>
}

/** Calls that are still to be answered, at most; and agents that a session starts. A hostile file may never answer. */
const MOST_OPEN = 1000
const MOST_SPAWNS = 10_000

type Ended = { readonly durationMs?: number; readonly edits?: string }

export function createCallLinks(): CallLinks {
  const ended = new Map<string, Ended>()
  /** Where the calls stand that start agents. */
  const asked = new Map<string, number>()
  const spawns = new Map<string, number>()

  const mark = (entry: Draft, marks: JsonObject): void => {
    entry.metadata = { ...entry.metadata, ...marks }
  }
  const link = (thread: string | undefined, callId: string | undefined, entry: Draft): void => {
    if (thread === undefined || !isUuid(thread) || spawns.size >= MOST_SPAWNS) return
    // What was copied was started by the thread that it is a copy of.
    if (entry.metadata?.['replayed'] === true) return
    const sequence = (callId === undefined ? undefined : asked.get(callId)) ?? entry.sequence
    if (!spawns.has(thread)) spawns.set(thread, sequence)
    mark(entry, { spawned: toSessionId(thread), ...(callId !== undefined && { spawnedBy: callId }) })
  }
  const observeEvent = (payload: JsonObject, entry: Draft): void => {
    const type = asString(payload['type']) ?? ''
    const callId = asId(payload['call_id'])
    if (type === 'collab_agent_spawn_end') link(asString(payload['new_thread_id']), callId, entry)
    if (type === 'sub_agent_activity' && payload['kind'] === 'started')
      link(asString(payload['agent_thread_id']), asId(payload['event_id']), entry)
    if (callId === undefined || !ENDS.has(type)) return
    const durationMs = toMillis(payload['duration'])
    const said = {
      ...ended.get(callId),
      ...(durationMs !== undefined && { durationMs }),
      ...(isObject(payload['changes']) && { edits: entry.id }),
    }
    if (Object.keys(said).length > 0) hold(ended, callId, said)
  }

  return {
    spawns,
    observe(line, entry) {
      const payload = isObject(line) && line['type'] === 'event_msg' ? asObject(line['payload']) : undefined
      if (payload !== undefined) {
        observeEvent(payload, entry)
        return
      }
      const [block] = entry.blocks
      if (block?.type === 'tool-call' && block.name === SPAWN && block.callId !== undefined)
        hold(asked, block.callId, entry.sequence)
      if (block?.type !== 'tool-result' || block.callId === undefined) return
      const said = ended.get(block.callId)
      ended.delete(block.callId)
      // What the result itself says comes first.
      if (said?.durationMs !== undefined) entry.durationMs ??= said.durationMs
      if (said?.edits !== undefined) mark(entry, { edits: said.edits })
      if (asked.has(block.callId)) link(agentIn(block.output), block.callId, entry)
    },
  }
}

const SPAWN = 'spawn_agent'

const ENDS: ReadonlySet<string> = new Set([
  'exec_command_end',
  'mcp_tool_call_end',
  'patch_apply_end',
  'dynamic_tool_call_response',
])

function hold<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value)
  if (map.size > MOST_OPEN) map.delete(map.keys().next().value as string)
}

/** `{secs, nanos}`. */
function toMillis(duration: Json | undefined): number | undefined {
  const seconds = asNumber(asObject(duration)?.['secs'])
  const nanos = asNumber(asObject(duration)?.['nanos']) ?? 0
  return seconds === undefined || seconds < 0 || nanos < 0
    ? undefined
    : Math.round(seconds * 1000 + nanos / 1_000_000)
}

/** `{"agent_id": "<thread>"}`, as text. */
function agentIn(output: unknown): string | undefined {
  return typeof output === 'string' ? asString(asObject(parseJson(output))?.['agent_id']) : undefined
}
