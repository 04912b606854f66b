/**
 * Claude's transcript lines as `TranscriptEntry`: the flat lines that the seed describes, converted as its code does, and the nested
 * ones that Claude Code writes, an entry for each part. What `content` leaves out is kept in `metadata`.
 */
import type { Role } from '../transcript/entry.ts'
import { isUuid, uuid4From } from '../transcript/ids.ts'
import { asObject, asString, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { fromClaudeLine } from './claude-lines.ts'
import { fromCreatedAt, toCreatedAt, type TranscriptEntry } from './weakincentives-entry.ts'
import { toParts } from './weakincentives-parts.ts'

export type ConvertOptions = {
  readonly source?: string
  /** The number of the first entry; further ones count on. */
  readonly sequence?: number
  /** What `created_at` says for a line without a time, which `metadata.filled` then names. Now, when absent. */
  readonly createdAt?: string
}

/** A line as one entry, as the seed has it. The parts of a line that holds several are joined in its content. */
export function convertClaudeTranscriptEntry(raw: JsonObject, options: ConvertOptions = {}): TranscriptEntry {
  const [first, ...others] = convertClaudeTranscriptLine(raw, options) as [
    TranscriptEntry,
    ...TranscriptEntry[],
  ]
  return others.length === 0 ? first : { ...first, content: [first, ...others].map(shown).join('\n') }
}

/** Every entry of a line: its text, then each tool call and each result, in the order of its blocks. */
export function convertClaudeTranscriptLine(
  raw: JsonObject,
  options: ConvertOptions = {},
): TranscriptEntry[] {
  const { source = 'primary', sequence = 0 } = options
  const type = asString(raw['type']) ?? ''
  const { timestamp } = raw
  const at = fromCreatedAt(asString(timestamp) ?? '')
  const filler = options.createdAt ?? toCreatedAt(new Date().toISOString())
  const uuid = asString(raw['uuid'])
  const parts = isNested(raw) ? nestedParts(raw) : [flatPart(raw, type)]
  return parts.map((part, index) => ({
    role: part.role,
    content: part.content,
    created_at: at === undefined ? filler : toCreatedAt(at),
    tool_name: part.tool_name,
    tool_call_id: part.tool_call_id,
    tool_input: part.tool_input,
    metadata: {
      raw_type: type,
      claude_session_id: asString(raw['session_id']) ?? asString(raw['sessionId']) ?? null,
      ...(at === undefined && { filled: ['created_at'] }),
      // A time that nobody can read is still what the line says.
      ...(at === undefined && timestamp !== undefined && { timestamp }),
      ...part.metadata,
    },
    entry_id:
      index === 0 && uuid !== undefined && isUuid(uuid)
        ? uuid
        : uuid4From('claude', uuid ?? toJson(raw), source, String(sequence + index)),
    source,
    sequence: sequence + index,
  }))
}

type Part = Pick<
  TranscriptEntry,
  'role' | 'content' | 'tool_name' | 'tool_call_id' | 'tool_input' | 'metadata'
>

const shown = ({ content, tool_name }: TranscriptEntry): string =>
  tool_name === null ? content : `${tool_name}: ${content}`

function isNested(raw: JsonObject): boolean {
  const content = asObject(raw['message'])?.['content']
  return typeof content === 'string' || Array.isArray(content)
}

function nestedParts(raw: JsonObject): Part[] {
  const said = fromClaudeLine(raw, NO_DEFAULTS)
  const { metadata: _, parent: _1, ...told } = said
  const entry = { id: '', source: '', sequence: 0, ...told }
  return toParts(entry, () => undefined)
}

const NO_DEFAULTS = { sessionId: undefined, cwd: undefined, version: undefined, gitBranch: undefined }

/** The seed's own map: a type that is not in it is the assistant's. */
export const ROLE_OF: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool_use', 'assistant'],
  ['tool_result', 'tool'],
  ['system', 'system'],
])

function flatPart(raw: JsonObject, type: string): Part {
  const isCall = type === 'tool_use'
  const input = isCall ? asObject(raw['input']) : undefined
  const model = asString(raw['model'])
  const usage = asObject(raw['usage'])
  const { content } = raw
  const metadata = {
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    ...(Array.isArray(content) &&
      !content.every(hasText) && { [type === 'tool_result' ? 'output' : 'blocks']: content.map(toBlock) }),
    // Neither content nor a call: what the record says is nowhere else.
    ...(content === undefined && input === undefined && { raw }),
  }
  return {
    role: ROLE_OF.get(type) ?? 'assistant',
    // A call's content is its arguments: the seed's model says so, its converter leaves them out.
    content: content === undefined && input !== undefined ? toJson(input, 2) : flatContent(content),
    tool_name: asString(raw['tool_name']) ?? (isCall ? asString(raw['name']) : undefined) ?? null,
    tool_call_id: asString(raw['tool_use_id']) ?? (isCall ? asString(raw['id']) : undefined) ?? null,
    tool_input: input ?? null,
    metadata: Object.keys(metadata).length === 0 ? null : metadata,
  }
}

/** As the seed's code has it: a dict as formatted JSON, of a list its texts, all else as Python's `str` spells it. */
function flatContent(content: Json = ''): string {
  if (content === null) return 'None'
  if (typeof content === 'boolean') return content ? 'True' : 'False'
  if (Array.isArray(content)) return content.filter(hasText).map(textOf).join('\n')
  return typeof content === 'object' ? toJson(content, 2) : String(content)
}

function hasText(block: Json): boolean {
  return typeof block === 'string' || asString(asObject(block)?.['text']) !== undefined
}

function textOf(block: Json): string {
  return typeof block === 'string' ? block : (asString(asObject(block)?.['text']) ?? '')
}

function toBlock(block: Json): Json {
  return typeof block === 'string' ? { type: 'text', text: block } : block
}
