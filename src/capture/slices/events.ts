/**
 * weakincentives' events, and the transcript entries each stands for: a rendered prompt is a system and a user entry, a tool's use
 * an assistant entry and the tool's answer, an executed prompt the last assistant entry.
 */
import { randomUUID } from 'node:crypto'
import { HansardError } from '../../errors.ts'
import {
  SLICE_NAME,
  asTranscriptEntry,
  freezeDeep,
  toCreatedAt,
  type TranscriptEntry,
} from '../../formats/weakincentives-entry.ts'
import { uuid4From } from '../../transcript/ids.ts'
import { parseInstant } from '../../transcript/instant.ts'
import { asObject, asString, isObject, toJson, type Json, type JsonObject } from '../../transcript/json.ts'
import { PRIMARY, ROLES, type Role } from '../../transcript/entry.ts'
import type { SliceType } from './slice.ts'

type Happened = {
  readonly prompt_name: string
  readonly adapter: string
  readonly session_id?: string | null
  /** ISO 8601. */
  readonly created_at: string
  readonly event_id: string
}

export type PromptRendered = Happened & {
  readonly prompt_ns?: string
  readonly prompt_key?: string
  readonly rendered_prompt: string
  /** What the user asked, where the prompt does not hold it. */
  readonly user_message?: string
  readonly render_inputs?: readonly Json[] | JsonObject
}

export type ToolInvoked = Happened & {
  readonly name: string
  readonly params: Json
  readonly result: Json
  readonly call_id?: string | null
  readonly usage?: JsonObject | null
  readonly value?: Json
  readonly rendered_output?: string
}

export type PromptExecuted = Happened & {
  readonly result: Json
  readonly usage?: JsonObject | null
  readonly value?: Json
}

export type TranscriptEvent = PromptRendered | ToolInvoked | PromptExecuted

/** The fields of an entry that have no default. */
const REQUIRED = ['role', 'content', 'created_at'] as const satisfies readonly (keyof TranscriptEntry)[]

export const TranscriptEntrySlice: SliceType<TranscriptEntry> = {
  name: SLICE_NAME,
  is: (value): value is TranscriptEntry =>
    isObject(value) && REQUIRED.every((field) => typeof value[field] === 'string'),
  settle: settleEntry,
}
export const PromptRenderedSlice: SliceType<PromptRendered> = {
  name: 'weakincentives.runtime.events.PromptRendered',
  is: (value): value is PromptRendered => isHappened(value) && typeof value['rendered_prompt'] === 'string',
}
export const ToolInvokedSlice: SliceType<ToolInvoked> = {
  name: 'weakincentives.runtime.events.ToolInvoked',
  is: (value): value is ToolInvoked =>
    isHappened(value) && typeof value['name'] === 'string' && 'params' in value,
}
export const PromptExecutedSlice: SliceType<PromptExecuted> = {
  name: 'weakincentives.runtime.events.PromptExecuted',
  is: (value): value is PromptExecuted =>
    isHappened(value) && 'result' in value && !('params' in value) && !('rendered_prompt' in value),
}

/** Fills in the defaults of the original class: `null`, a new id, `primary`, 0. */
export function settleEntry(entry: TranscriptEntry): TranscriptEntry {
  const stated = Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== undefined && value !== null),
  )
  const complete = asTranscriptEntry(stated)
  if (complete === undefined) {
    const isRole = (ROLES as readonly string[]).includes(entry.role)
    const problem = isRole
      ? 'a field has a value of the wrong type'
      : `no such role: ${JSON.stringify(entry.role)}`
    throw new HansardError('invalid-argument', problem, {
      hint: `a TranscriptEntry has the role ${ROLES.join(', ')}, texts for \`source\` and \`entry_id\`, and a number for \`sequence\``,
    })
  }
  const entry_id = complete.entry_id === '' ? randomUUID() : complete.entry_id
  return freezeDeep(structuredClone({ ...complete, ...stated, entry_id }))
}

export type EntriesOptions = { readonly source?: string; readonly sequence?: number }

/** The transcript entries that an event stands for, numbered from `sequence`. Nothing is cut short. */
export function entriesOfEvent(event: TranscriptEvent, options: EntriesOptions = {}): TranscriptEntry[] {
  const { source = PRIMARY, sequence = 0 } = options
  const at = parseInstant(event.created_at)
  return partsOf(event).map((part, index) => ({
    role: part.role,
    content: part.content,
    created_at: at === undefined ? event.created_at : toCreatedAt(at),
    tool_name: part.tool_name ?? null,
    tool_call_id: part.tool_call_id ?? null,
    tool_input: part.tool_input ?? null,
    metadata: { adapter: event.adapter, prompt_name: event.prompt_name, ...part.metadata },
    entry_id: uuid4From('event', event.event_id, String(index)),
    source,
    sequence: sequence + index,
  }))
}

type Part = {
  readonly role: Role
  readonly content: string
  readonly tool_name?: string
  readonly tool_call_id?: string | null
  readonly tool_input?: JsonObject
  readonly metadata?: JsonObject
}

function partsOf(event: TranscriptEvent): Part[] {
  if ('rendered_prompt' in event) return promptParts(event)
  if ('params' in event) return toolParts(event)
  return [{ role: 'assistant', content: shown(event.result), metadata: usageOf(event) }]
}

/** The rendered prompt instructs; what the user gave is its message, or else the inputs it was rendered with. */
function promptParts({ rendered_prompt, user_message, render_inputs }: PromptRendered): Part[] {
  const hasInputs = render_inputs !== undefined && Object.keys(render_inputs).length > 0
  const asked = user_message ?? (hasInputs ? toJson(render_inputs, 2) : undefined)
  const system: Part = { role: 'system', content: rendered_prompt }
  return asked === undefined ? [system] : [system, { role: 'user', content: asked }]
}

function toolParts({ name, params, result, call_id, rendered_output, ...event }: ToolInvoked): Part[] {
  const success = asObject(result)?.['success']
  return [
    {
      role: 'assistant',
      content: toJson(params, 2),
      tool_name: name,
      tool_call_id: call_id ?? null,
      tool_input: isObject(params) ? params : { raw: params },
      metadata: usageOf(event),
    },
    {
      role: 'tool',
      content: rendered_output ?? shown(result),
      tool_name: name,
      tool_call_id: call_id ?? null,
      ...(typeof success === 'boolean' && { metadata: { success } }),
    },
  ]
}

function usageOf({ usage }: { readonly usage?: JsonObject | null }): JsonObject {
  return usage === undefined || usage === null ? {} : { usage }
}

/** A result's own text where it has one, else the result as formatted JSON. */
function shown(result: Json): string {
  if (typeof result === 'string') return result
  const said = asObject(result)
  return asString(said?.['text']) ?? asString(said?.['message']) ?? toJson(result, 2)
}

function isHappened(value: unknown): value is JsonObject {
  return isObject(value) && typeof value['prompt_name'] === 'string' && typeof value['event_id'] === 'string'
}
