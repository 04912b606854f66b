/**
 * Claude's transcript lines as `TranscriptEntry`: the flat lines that the seed describes, and the nested ones that Claude Code
 * really writes. No block is dropped: a line with text and tool calls becomes an entry for each.
 */
import type { Role } from '../transcript/entry.ts'
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import { asArray, asObject, asString, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { fromClaudeLine } from './claude-lines.ts'
import { fromCreatedAt, toCreatedAt, type TranscriptEntry } from './weakincentives-entry.ts'
import { toParts } from './weakincentives-parts.ts'

export type ConvertOptions = {
  readonly source?: string
  /** The number of the first entry; further ones count on. */
  readonly sequence?: number
  /** What `created_at` says for a line without a time. */
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
  const { source = 'primary', sequence = 0, createdAt = EPOCH } = options
  const type = asString(raw['type']) ?? ''
  const at = fromCreatedAt(asString(raw['timestamp']) ?? '')
  const uuid = asString(raw['uuid'])
  const parts = isNested(raw) ? nestedParts(raw) : [flatPart(raw, type)]
  return parts.map((part, index) => ({
    role: part.role,
    content: part.content,
    created_at: at === undefined ? createdAt : toCreatedAt(at),
    tool_name: part.tool_name,
    tool_call_id: part.tool_call_id,
    tool_input: part.tool_input,
    metadata: {
      raw_type: type,
      claude_session_id: asString(raw['session_id']) ?? asString(raw['sessionId']) ?? null,
      ...part.metadata,
    },
    entry_id:
      index === 0 && uuid !== undefined && isUuid(uuid)
        ? uuid
        : uuidFrom('claude', uuid ?? toJson(raw), source, String(sequence + index)),
    source,
    sequence: sequence + index,
  }))
}

const EPOCH = '1970-01-01T00:00:00+00:00'

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

/** The seed's own map; a type it does not know is an assistant's, unless the record says nothing that could be content. */
const ROLE_OF: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool_use', 'assistant'],
  ['tool_result', 'tool'],
  ['system', 'system'],
])

function flatPart(raw: JsonObject, type: string): Part {
  const isRecord = !('content' in raw) && !('input' in raw)
  const input = type === 'tool_use' ? asObject(raw['input']) : undefined
  const model = asString(raw['model'])
  const usage = asObject(raw['usage'])
  const metadata = { ...(model !== undefined && { model }), ...(usage !== undefined && { usage }) }
  const content = raw['content']
  return {
    role: ROLE_OF.get(type) ?? (isRecord ? 'system' : 'assistant'),
    content: isRecord
      ? toJson(raw, 2)
      : content === undefined && input
        ? toJson(input, 2)
        : flatContent(content),
    tool_name:
      asString(raw['tool_name']) ?? (type === 'tool_use' ? asString(raw['name']) : undefined) ?? null,
    tool_call_id:
      asString(raw['tool_use_id']) ?? (type === 'tool_use' ? asString(raw['id']) : undefined) ?? null,
    tool_input: input ?? null,
    metadata: Object.keys(metadata).length === 0 ? null : metadata,
  }
}

/** Text as it is, structure as formatted JSON, and of a list of blocks the text of each, or the block itself. */
function flatContent(content: Json | undefined): string {
  if (content === undefined || content === null) return ''
  if (typeof content === 'string') return content
  const blocks = asArray(content)
  if (blocks === undefined) return toJson(content, 2)
  return blocks
    .map((block) =>
      typeof block === 'string' ? block : (asString(asObject(block)?.['text']) ?? toJson(block)),
    )
    .join('\n')
}
