/** weakincentives' `TranscriptEntry`: the line of its transcript slice, every field in the order of its declaration. */
import { parseInstant } from '../transcript/instant.ts'
import { asObject, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { ROLES, type Role } from '../transcript/entry.ts'

export type TranscriptEntry = {
  readonly role: Role
  /** Text; the arguments of a tool call as formatted JSON; the output of a tool. */
  readonly content: string
  /** ISO 8601 with an offset, as Python writes a `datetime` that knows its zone: `2026-01-05T09:15:32.120000+00:00`. */
  readonly created_at: string
  readonly tool_name: string | null
  readonly tool_call_id: string | null
  readonly tool_input: JsonObject | null
  readonly metadata: JsonObject | null
  readonly entry_id: string
  readonly source: string
  readonly sequence: number
}

export const FIELDS = [
  'role',
  'content',
  'created_at',
  'tool_name',
  'tool_call_id',
  'tool_input',
  'metadata',
  'entry_id',
  'source',
  'sequence',
] as const satisfies readonly (keyof TranscriptEntry)[]

/** What the slice factory calls the file: module and class. The seed's own spelling has a colon, which Windows refuses. */
export const FILE_NAME = 'weakincentives.runtime.transcript.TranscriptEntry.jsonl'

/** The name of the slice's type inside lines that carry one. */
export const TYPE_KEY = '__type__'

/** The line as an entry, with the fields it lacks at their defaults; undefined when it is none. */
export function asTranscriptEntry(line: Json): TranscriptEntry | undefined {
  if (!isObject(line)) return undefined
  const { role, content, created_at, source = 'primary', sequence = 0, entry_id = '' } = line
  if (!isRole(role) || typeof content !== 'string' || typeof created_at !== 'string') return undefined
  if (typeof source !== 'string' || typeof sequence !== 'number' || typeof entry_id !== 'string')
    return undefined
  return {
    role,
    content,
    created_at,
    tool_name: typeof line['tool_name'] === 'string' ? line['tool_name'] : null,
    tool_call_id: typeof line['tool_call_id'] === 'string' ? line['tool_call_id'] : null,
    tool_input: asObject(line['tool_input']) ?? null,
    metadata: asObject(line['metadata']) ?? null,
    entry_id,
    source,
    sequence,
  }
}

/** As Python's `isoformat()` spells it: no fraction for a whole second, else microseconds, which is all it has. */
export function toCreatedAt(instant: string): string {
  const fraction = instant.slice(20, -1)
  const isWhole = /^0*$/.test(fraction)
  return `${instant.slice(0, 19)}${isWhole ? '' : `.${fraction.slice(0, 6).padEnd(6, '0')}`}+00:00`
}

export const fromCreatedAt = (text: string): string | undefined => parseInstant(text)

function isRole(role: Json | undefined): role is Role {
  return typeof role === 'string' && (ROLES as readonly string[]).includes(role)
}
