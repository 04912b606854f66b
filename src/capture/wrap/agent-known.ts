/** What of a run has been recorded: its messages and its transcripts say the same things, each of which is recorded once. */
import { createHash } from 'node:crypto'
import { hasFlatContent } from '../../formats/claude-flat-content.ts'
import { asArray, asObject, asString, toJson, type Json, type JsonObject } from '../../transcript/json.ts'
import type { AgentFile } from './agent-paths.ts'
import { openTranscript } from './agent-transcript.ts'

export type Known = {
  asked(line: JsonObject): void
  learn(line: JsonObject): void
  isSaid(line: JsonObject): boolean
  /** What of a transcript's line has not been recorded: all, only what its message came to in the end, or nothing. */
  unsaid(line: JsonObject): readonly JsonObject[]
  /** The same of a flat line, which has no id. */
  unsaidFlat(line: JsonObject): readonly JsonObject[]
  /** The call that started a subagent, by what it was told or has said. */
  starterOf(file: AgentFile): string | undefined
}

/** Of a run that goes on for days, the oldest are forgotten: at worst they are recorded again. */
const MOST_KNOWN = 200_000

export function createKnown(): Known {
  /** By the ids of lines: the call whose subagent said it, or none. */
  const lines = new Map<string, string | undefined>()
  const prompts = new Map<string, number>()
  const calls = new Map<string, string>()
  const starters = new Map<string, string>()
  const counted = new Map<string, string>()
  const twins = createTwins()

  const starterOf: Known['starterOf'] = ({ path, agentId }) => {
    const before = starters.get(agentId)
    if (before !== undefined) return before
    let found: string | undefined
    openTranscript(path).read((line) => {
      if (found !== undefined) return
      const said = lines.get(asString(line['uuid']) ?? '')
      found = said ?? (line['type'] === 'user' ? calls.get(textOf(line).trim()) : undefined)
    })
    if (found !== undefined) hold(starters, agentId, found)
    return found
  }
  return {
    asked(line) {
      const text = textOf(line).trim()
      hold(prompts, text, (prompts.get(text) ?? 0) + 1)
    },
    learn(line) {
      twins.add(line)
      const id = asString(line['uuid'])
      if (id !== undefined) hold(lines, id, asString(line['parent_tool_use_id']) ?? undefined)
      for (const block of hasFlatContent(line)
        ? [{ ...line, id: line['tool_use_id'] ?? null }]
        : contentOf(line)) {
        const prompt = asString(asObject(asObject(block)?.['input'])?.['prompt'])
        const callId = asString(asObject(block)?.['id'])
        if (prompt !== undefined && callId !== undefined) hold(calls, prompt.trim(), callId)
      }
    },
    isSaid: (line) => lines.has(asString(line['uuid']) ?? '') || twins.take(line),
    unsaidFlat: (line) => (twins.take(line) ? [] : [line]),
    unsaid(line) {
      const id = asString(line['uuid'])
      if (id === undefined || !lines.has(id)) {
        const text = line['type'] === 'user' ? textOf(line).trim() : ''
        const times = line['parent_tool_use_id'] === undefined ? (prompts.get(text) ?? 0) : 0
        if (times === 0) return [line]
        prompts.set(text, times - 1)
        return []
      }
      const message = asObject(line['message'])
      const messageId = asString(message?.['id'])
      const usage = asObject(message?.['usage'])
      if (line['type'] !== 'assistant' || messageId === undefined || usage === undefined) return []
      // The same message again, with what it came to: only that.
      const mark = JSON.stringify(usage)
      if (counted.get(messageId) === mark || message?.['stop_reason'] === null) return []
      hold(counted, messageId, mark)
      return counts(line, message ?? {}, usage)
    },
    starterOf,
  }
}

/** A provider's stream of nothing but its counts. */
function counts(line: JsonObject, message: JsonObject, usage: JsonObject): readonly JsonObject[] {
  const parent = line['parent_tool_use_id']
  const event = (said: JsonObject): JsonObject => ({
    type: 'stream_event',
    event: said,
    ...(parent !== undefined && { parent_tool_use_id: parent }),
  })
  const { id, model, stop_reason: stopReason } = message
  return [
    event({
      type: 'message_start',
      message: {
        ...(id !== undefined && { id }),
        ...(model !== undefined && { model }),
        role: 'assistant',
        content: [],
        usage,
      },
    }),
    event({ type: 'message_delta', delta: { stop_reason: stopReason ?? null }, usage }),
    event({ type: 'message_stop' }),
  ]
}

function contentOf(line: JsonObject): readonly Json[] {
  return asArray(asObject(line['message'])?.['content'] ?? line['content']) ?? []
}

/** Messages with a nested content, and flat lines that say the same, which no id tells: each is the other's twin once. */
function createTwins() {
  const nested = new Map<string, number>()
  const flat = new Map<string, number>()
  return {
    add(line: JsonObject): void {
      const said = 'message' in line ? nested : flat
      for (const part of partsOf(line)) hold(said, part, (said.get(part) ?? 0) + 1)
    },
    /** True, once, when every part of it was said by a line of the other kind. */
    take(line: JsonObject): boolean {
      const others = 'message' in line ? flat : nested
      const parts = partsOf(line)
      if (parts.length === 0 || !parts.every((part) => (others.get(part) ?? 0) > 0)) return false
      for (const part of parts) others.set(part, (others.get(part) ?? 1) - 1)
      return true
    },
  }
}

/** Texts by whose they are, calls and results by their ids. */
function partsOf(line: JsonObject): readonly string[] {
  const { type, parent_tool_use_id: parent, tool_use_id: callId } = line
  const part = (kind: Json | undefined, said: string): string =>
    createHash('sha256')
      .update(toJson([parent ?? null, kind ?? null, said]))
      .digest('base64')
  if (!('message' in line) && typeof callId === 'string') return [part(type, callId)]
  const content = contentOf(line)
  if (content.length === 0) return textOf(line) === '' ? [] : [part(type, textOf(line).trim())]
  return content.flatMap((block) => {
    const { type: kind, text, id, tool_use_id: of } = asObject(block) ?? {}
    if (typeof text === 'string') return [part(type, text.trim())]
    const callId = asString(id) ?? asString(of)
    return callId === undefined ? [] : [part(kind, callId)]
  })
}

function textOf(line: JsonObject): string {
  const content = asObject(line['message'])?.['content'] ?? line['content']
  if (typeof content === 'string') return content
  return contentOf(line)
    .flatMap((block) => asString(asObject(block)?.['text']) ?? [])
    .join('\n')
}

function hold<K, V>(held: Map<K, V>, key: K, value: V): void {
  held.set(key, value)
  if (held.size > MOST_KNOWN) held.delete(held.keys().next().value as K)
}
