/**
 * iFlow CLI's own logs: `session-<uuid>.jsonl`, lines like Claude Code's. A line may repeat the call before its own: each call is said once.
 * Results are Gemini's answers of functions in Claude's blocks; it writes zeros for tokens, which say nothing.
 */
import type { Block } from '../transcript/block.ts'
import { PRIMARY } from '../transcript/entry.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { withoutZeros } from '../transcript/usage.ts'
import { splitAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import { splitPart } from '../wire/gemini-parts.ts'
import { toBlocks, type SplitBlock } from '../wire/split.ts'
import { vocabulary } from './drift.ts'
import { foldedFormat, vote } from './folded-format.ts'
import type { Format } from './format.ts'
import { createRecentIds } from './id-set.ts'
import { PLACES } from './places.ts'
import { asId, type Said } from './placing.ts'
import type { SessionFold } from './session-fold.ts'
import { createSpan } from './span.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'iflow'

export const iflow: Format = foldedFormat({
  id: ID,
  title: 'iFlow CLI: session-<uuid>.jsonl',
  words: `uuid parentUuid sessionId timestamp type isSidechain userType external cwd gitBranch version message role user content id assistant model
    text tool_use name input stop_reason usage tool_use_id tool_result responseParts functionResponse response output resultDisplay callId`,
  look: (head) => vote(head, isLine, { what: 'line', of: "iFlow's log" }),
  fold: createIflowFold,
  vocabulary: vocabulary({
    records: ['user: toolUseResult', 'assistant:'],
    common:
      'uuid parentUuid sessionId timestamp type isSidechain userType message cwd gitBranch version isMeta requestId agentId',
  }),
  watch: (watch, line) => watch.record(asString(line['type']) ?? '', line, asString(line['version'])),
  isCandidate: ({ path }) => path.endsWith('.jsonl') || !path.includes('/'),
  places: PLACES.iflow,
})

/** Claude Code's sessions are bare uuids. */
function isLine({ uuid, sessionId, type, message }: JsonObject): boolean {
  if (typeof uuid !== 'string' || typeof sessionId !== 'string' || !sessionId.startsWith('session-'))
    return false
  return (type === 'user' || type === 'assistant') && isObject(message) && 'content' in message
}

const TAKEN: ReadonlySet<string> = new Set(['uuid', 'parentUuid', 'timestamp', 'message', 'type'])

function createIflowFold(): SessionFold {
  const span = createSpan()
  const called = createRecentIds()
  let facts: { [key: string]: string } = {}
  let branch: string | undefined

  const toBlock = (raw: Json): SplitBlock | undefined => {
    const split = splitResult(raw) ?? splitAnthropicBlock(raw)
    const { block } = split
    if (block.type !== 'tool-call' || block.callId === undefined) return split
    if (called.has(block.callId)) return undefined
    called.add(block.callId)
    return split
  }
  const fromLine = (line: JsonObject, message: JsonObject): Said => {
    const { parentUuid } = line
    const { content, model, usage, stop_reason: stopReason } = message
    const parts: readonly Json[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : (asArray(content) ?? [])
    const split = parts.flatMap((part) => toBlock(part) ?? [])
    const { blocks, extras } = toBlocks(split)
    const id = asId(line['uuid'])
    const at = parseInstant(line['timestamp'])
    const agent = asId(line['agentId'])
    const messageId = asId(message['id'])
    const isAnswer = line['type'] === 'assistant'
    const isResult = blocks.length > 0 && blocks.every(({ type }) => type === 'tool-result')
    const repeated = parts.length - split.length
    return {
      ...(id !== undefined && { id }),
      ...((parentUuid === null || typeof parentUuid === 'string') && { parent: parentUuid }),
      source: agent === undefined ? PRIMARY : `subagent:${agent}`,
      kind: 'message',
      role: isAnswer ? 'assistant' : isResult ? 'tool' : 'user',
      ...(at !== undefined && { at }),
      blocks,
      ...(typeof model === 'string' && { model }),
      ...(isAnswer && usage !== undefined && { usage: withoutZeros(fromAnthropicUsage(usage)) }),
      ...(typeof stopReason === 'string' && { stopReason }),
      ...(isAnswer && messageId !== undefined && { call: { messageId } }),
      metadata: {
        ...rest(line, TAKEN),
        ...(extras !== undefined && { extras }),
        ...(repeated > 0 && { repeatedCalls: repeated }),
      },
    }
  }
  return {
    next(value) {
      if (!isObject(value)) return []
      const { sessionId, cwd, version, gitBranch } = value
      const message = asObject(value['message'])
      const model = message?.['model']
      for (const [key, one] of Object.entries({ sessionId, cwd, version, model }))
        if (typeof one === 'string' && one !== '') facts = { ...facts, [key]: one }
      branch = asString(gitBranch) || branch
      span.see(parseInstant(value['timestamp']))
      return [message === undefined ? unknownSaid(value, asString(value['type'])) : fromLine(value, message)]
    },
    facts: () => ({ agent: ID, ...facts, ...(branch !== undefined && { git: { branch } }), ...span.facts() }),
  }
}

/** `{tool_use_id, content: {callId, responseParts: {functionResponse}, resultDisplay}}` */
function splitResult(raw: Json): SplitBlock | undefined {
  const block = asObject(raw)
  const content = asObject(block?.['content'])
  const callId = asString(block?.['tool_use_id'])
  if (block?.['type'] !== 'tool_result' || content === undefined || callId === undefined) return undefined
  const parts = asArray(content['responseParts']) ?? [content['responseParts'] ?? null]
  const found = parts.map((part) => splitPart(part).block).find((one) => one.type === 'tool-result')
  const more = rest(content, new Set(['callId', 'responseParts']))
  const isError = block['is_error'] === true
  const result: Block = {
    type: 'tool-result',
    ...(found?.type === 'tool-result' ? found : { output: [{ type: 'unknown', raw: content }] }),
    callId,
    ...(isError && { isError }),
  }
  return { block: result, ...(more !== undefined && { extras: more }) }
}
