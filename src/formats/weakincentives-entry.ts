/** weakincentives' `TranscriptEntry`: the line of its transcript slice, every field in the order of its declaration. */
import { checkId } from '../transcript/ids.ts'
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

/** The slice's type, as the seed identifies it: module and class. */
export const SLICE_NAME = 'weakincentives.transcript:TranscriptEntry'

/** A slice's file is named after its type. Windows allows no colon in a name. */
export function sliceFileName(name: string, platform: NodeJS.Platform = process.platform): string {
  const plain = checkId(name.replaceAll(':', '_'), 'slice name')
  return `${platform === 'win32' ? plain : name}.jsonl`
}

export const FILE_NAME = sliceFileName(SLICE_NAME)

/** The name of the slice's type inside lines that carry one. */
export const TYPE_KEY = '__type__'

const FIELD_NAMES: ReadonlySet<string> = new Set(FIELDS)

/** True for a line that says nothing but a `TranscriptEntry`, whole or with fields left out. */
export function hasOnlyFields(line: JsonObject): boolean {
  return Object.keys(line).every((key) => FIELD_NAMES.has(key))
}

/** The line as an entry, with the fields it lacks at their defaults; undefined when it is none. */
export function asTranscriptEntry(line: Json): TranscriptEntry | undefined {
  if (!isObject(line)) return undefined
  const { role, content, created_at } = line
  const source = line['source'] ?? 'primary'
  const sequence = line['sequence'] ?? 0
  const entry_id = line['entry_id'] ?? ''
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

/** The same object, which nobody can change any more, at any depth. Not recursive: a line of a file may be deep. */
export function freezeDeep<T>(value: T): T {
  const open: unknown[] = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'object' && one !== null)
      for (const inner of Object.values(Object.freeze(one))) open.push(inner)
  }
  return value
}

function isRole(role: Json | undefined): role is Role {
  return typeof role === 'string' && (ROLES as readonly string[]).includes(role)
}
