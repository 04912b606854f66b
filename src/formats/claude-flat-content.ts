/**
 * Claude's transcript lines as weakincentives' specification has them: flat, with the content beside the type, and none in a
 * `message`. Said as its converter says them.
 */
import { asString, type JsonObject } from '../transcript/json.ts'
import type { StreamSource } from './stream-session.ts'
import { ROLE_OF, convertClaudeTranscriptEntry } from './weakincentives-claude.ts'
import { fromTranscriptEntry } from './weakincentives-parse.ts'

export function hasFlatContent(line: JsonObject): boolean {
  const hasContent = 'content' in line || 'tool_use_id' in line || 'input' in line
  return (
    hasContent && ROLE_OF.has(asString(line['type']) ?? '') && !('message' in line) && !('subtype' in line)
  )
}

/** `startedBy` learns whose call it is, for a subagent that the call may start. */
export function sayFlatContent(
  line: JsonObject,
  source: StreamSource,
  startedBy: (call: string, source: StreamSource) => void,
): void {
  const { parent_tool_use_id: _, ...raw } = line
  const entry = convertClaudeTranscriptEntry(raw)
  const {
    role = entry.role,
    blocks,
    kind: _1,
    source: _2,
    parent: _3,
    ...details
  } = fromTranscriptEntry(entry)
  const isCall = blocks.some(({ type }) => type === 'tool-call')
  if (isCall && entry.tool_call_id !== null) startedBy(entry.tool_call_id, source)
  // Text beside a call is said first.
  const text = isCall && raw['content'] !== undefined ? entry.content : ''
  const said = text === '' ? blocks : [{ type: 'text' as const, text }, ...blocks]
  const id = asString(raw['uuid'])
  source.message(role, said, { ...details, ...(id !== undefined && { id }) })
}
