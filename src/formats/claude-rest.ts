/**
 * What a Claude-style line says beyond its entry and its session: the fields that are left, under their own names, and the
 * names of those that other lines have and this one lacks.
 */
import { heldId } from '../transcript/held-text.ts'
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { LineDefaults, LineEntry, MessageType } from './claude-lines.ts'
import { toTimestamp } from './claude-time.ts'

/** What a line of Claude Code has unless it says so in `metadata.absent`. */
const EXPECTED = ['sessionId', 'cwd', 'version', 'gitBranch', 'isSidechain'] as const

export function restOfLine(
  line: JsonObject,
  entry: LineEntry,
  defaults: LineDefaults,
): Record<string, Json> | undefined {
  let kept: Record<string, Json> | undefined
  for (const key in line) {
    const value = line[key] as Json
    if (isSaidOfLine(key, value, line, entry, defaults)) continue
    kept ??= Object.create(null) as Record<string, Json>
    kept[key] = value
  }
  if (defaults.exact !== true) return kept
  let absent: string[] | undefined
  for (const key of EXPECTED) if (line[key] === undefined) (absent ??= []).push(key)
  const { message } = line
  if (entry.kind === 'message' && isObject(message)) {
    if (message['role'] === undefined) (absent ??= []).push('message.role')
    if (entry.usage?.quality === 'partial' && message['stop_reason'] === undefined)
      (absent ??= []).push('message.stop_reason')
  }
  if (absent === undefined) return kept
  kept ??= Object.create(null) as Record<string, Json>
  kept['absent'] = absent
  return kept
}

/** Of what `restOfLine` keeps, the names that facts about a session are told by. */
export const MARKS = ['spawned', 'spawnedBy', 'replayed', 'isMeta'] as const

export function marksOf(line: JsonObject): Record<string, Json> | undefined {
  let kept: Record<string, Json> | undefined
  for (const key of MARKS) {
    const value = line[key]
    if (value === undefined || !Object.hasOwn(line, key)) continue
    kept ??= Object.create(null) as Record<string, Json>
    kept[key] = value
  }
  return kept
}

/** True when the entry or the session says it already. */
function isSaidOfLine(
  key: string,
  value: Json,
  line: JsonObject,
  entry: LineEntry,
  defaults: LineDefaults,
): boolean {
  switch (key) {
    case 'type':
    case 'message':
      return true
    case 'uuid':
      return typeof value === 'string' && value !== ''
    case 'parentUuid':
      return entry.parent !== undefined
    case 'timestamp':
      return (
        entry.at !== undefined &&
        (value === entry.at ? !entry.at.endsWith('.000Z') : toTimestamp(entry.at) === value)
      )
    case 'requestId':
      return entry.call?.requestId !== undefined
    case 'durationMs':
      return entry.durationMs !== undefined && toolDuration(line['toolUseResult']) === undefined
    // A subagent that names itself is the entry's source; whether it says so is decided in one place.
    case 'isSidechain':
      return agentOf(line) !== undefined
    case 'agentId':
      return agentOf(line) === value
    case 'sessionId':
      return value === defaults.sessionId
    case 'cwd':
      // What our writer puts where nobody knows the folder.
      return value === defaults.cwd || (value === '' && defaults.cwd === undefined && defaults.exact !== true)
    case 'version':
      return value === defaults.version
    case 'gitBranch':
      return value === defaults.gitBranch
    default:
      return false
  }
}

export function restOfMessage(
  message: JsonObject,
  entry: LineEntry,
  type: MessageType,
  spelling: Json | undefined,
): Record<string, Json> | undefined {
  let kept: Record<string, Json> | undefined
  for (const key in message) {
    const value = key === 'content' ? spelling : (message[key] as Json)
    if (value === undefined || isSaidOfMessage(key, value, entry, type)) continue
    kept ??= Object.create(null) as Record<string, Json>
    kept[key] = value
  }
  return kept
}

function isSaidOfMessage(key: string, value: Json, entry: LineEntry, type: MessageType): boolean {
  switch (key) {
    case 'role':
      return type === 'event' ? value === entry.role : value === type
    case 'usage':
      return entry.usage !== undefined && entry.usage.raw === value
    case 'model':
      return entry.model !== undefined
    case 'id':
      return entry.call?.messageId !== undefined
    case 'stop_reason':
      return entry.stopReason !== undefined || (value === null && entry.usage?.quality === 'partial')
    default:
      return false
  }
}

export function keepMessage(
  kept: Record<string, Json> | undefined,
  message: Record<string, Json>,
): Record<string, Json> {
  if (kept === undefined) return { message }
  kept['message'] = message
  return kept
}

/** The subagent a line says it is of, in the versions that name them. */
export function agentOf({ isSidechain, agentId }: JsonObject): string | undefined {
  return isSidechain === true && typeof agentId === 'string' && agentId !== '' ? heldId(agentId) : undefined
}

/** Milliseconds that a tool took, where its result says so: a subagent's whole run, a search, a fetch. */
export function toolDuration(result: Json | undefined): number | undefined {
  if (!isObject(result)) return undefined
  const { totalDurationMs, durationMs } = result
  if (typeof totalDurationMs === 'number') return totalDurationMs
  return typeof durationMs === 'number' ? durationMs : undefined
}
