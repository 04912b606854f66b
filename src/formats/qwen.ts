/**
 * Qwen Code's own logs: `chats/<sessionId>.jsonl`, an envelope like Claude Code's around Gemini's contents. The order is the file's; branches
 * that were left stay, for they cost what they cost. Also the events that its daemon sends to editors.
 */
import { asObject, asString, isObject, rest, type JsonObject } from '../transcript/json.ts'
import { PRIMARY } from '../transcript/entry.ts'
import { parseInstant } from '../transcript/instant.ts'
import { fromGeminiUsage } from '../wire/gemini-usage.ts'
import { splitParts } from '../wire/gemini-parts.ts'
import { toBlocks } from '../wire/split.ts'
import { foldedFormat, vote } from './folded-format.ts'
import type { Detection, Format } from './format.ts'
import type { Head } from './head-records.ts'
import { PLACES } from './places.ts'
import { asId, type Said } from './placing.ts'
import { isDaemonEvent, fromDaemonEvent } from './qwen-daemon.ts'
import { VOCABULARY, watchQwen } from './qwen-vocabulary.ts'
import type { SessionFold } from './session-fold.ts'
import { createSpan } from './span.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'qwen'

export const qwen: Format = foldedFormat({
  id: ID,
  title: 'Qwen Code: chats/<sessionId>.jsonl',
  words: `uuid parentUuid sessionId timestamp type cwd version gitBranch message role user model parts text thought functionCall id name args
    assistant usageMetadata tool_result toolCallResult functionResponse response output system`,
  look,
  fold: createQwenFold,
  vocabulary: VOCABULARY,
  watch: watchQwen,
  isCandidate: ({ path }) => path.endsWith('.jsonl') || !path.includes('/'),
  places: PLACES.qwen,
})

function look(head: Head): Detection | undefined {
  return (
    vote(head, isLine, { what: 'line', of: "Qwen Code's log" }) ??
    vote(head, isDaemonEvent, { confidence: 0.9, what: 'event', of: "Qwen Code's daemon" })
  )
}

const TYPES: ReadonlySet<string> = new Set(['user', 'assistant', 'tool_result', 'system'])

/** Claude Code's lines have `content` where these have `parts`. */
function isLine(record: JsonObject): boolean {
  const { uuid, sessionId, type, message } = record
  if (typeof uuid !== 'string' || typeof sessionId !== 'string' || !TYPES.has(asString(type) ?? ''))
    return false
  if (isObject(message)) return Array.isArray(message['parts'])
  return type === 'system' && ('systemPayload' in record || 'subtype' in record) && !('userType' in record)
}

/** What an entry says of a line; everything else is its metadata. */
const TAKEN: ReadonlySet<string> = new Set([
  'uuid',
  'parentUuid',
  'timestamp',
  'message',
  'model',
  'usageMetadata',
])

function createQwenFold(): SessionFold {
  const span = createSpan()
  let facts: { [key: string]: string } = {}
  let branch: string | undefined

  const learn = (line: JsonObject): void => {
    const { sessionId, cwd, version, model, gitBranch, subtype } = line
    const title = subtype === 'custom_title' ? asObject(line['systemPayload'])?.['customTitle'] : undefined
    for (const [key, value] of Object.entries({ cwd, version, model, title }))
      if (typeof value === 'string' && value !== '') facts[key] = value
    // Another session's lines are copied into a branch: the file's own is the first to be named.
    if (typeof sessionId === 'string' && sessionId !== '') facts['sessionId'] ??= sessionId
    branch = asString(gitBranch) || branch
    span.see(parseInstant(line['timestamp']))
  }
  return {
    next(value) {
      if (!isObject(value)) return []
      if (isDaemonEvent(value)) return fromDaemonEvent(value)
      if (typeof value['uuid'] !== 'string') return []
      learn(value)
      return [fromLine(value)]
    },
    facts: () => ({ agent: ID, ...facts, ...(branch !== undefined && { git: { branch } }), ...span.facts() }),
  }
}

function fromLine(line: JsonObject): Said {
  const { parentUuid, type, model, usageMetadata } = line
  const id = asId(line['uuid'])
  const at = parseInstant(line['timestamp'])
  const agent = asId(line['agentId'])
  const placed = {
    ...(id !== undefined && { id }),
    ...((parentUuid === null || typeof parentUuid === 'string') && { parent: parentUuid }),
    source: agent === undefined ? PRIMARY : `subagent:${agent}`,
    ...(at !== undefined && { at }),
  }
  const message = asObject(line['message'])
  if (message === undefined || type === 'system')
    return { ...unknownSaid(line, asString(line['subtype']) ?? asString(type) ?? 'unknown'), ...placed }
  const { blocks, extras } = toBlocks(splitParts(message['parts']))
  const kept = { ...rest(line, TAKEN), ...(extras !== undefined && { extras }) }
  const isFailed = asString(asObject(line['toolCallResult'])?.['status']) === 'error'
  // A copy of another session's line names the one that it was copied from: the call is that one's.
  const messageId = asId(asObject(line['forkedFrom'])?.['messageUuid']) ?? id
  const isAnswer = type === 'assistant'
  return {
    ...placed,
    kind: 'message',
    role: isAnswer ? 'assistant' : type === 'tool_result' ? 'tool' : 'user',
    blocks: isFailed
      ? blocks.map((block) => (block.type === 'tool-result' ? { ...block, isError: true } : block))
      : blocks,
    ...(typeof model === 'string' && { model }),
    ...(isAnswer && usageMetadata !== undefined && { usage: fromGeminiUsage(usageMetadata) }),
    ...(isAnswer && messageId !== undefined && { call: { messageId } }),
    ...(Object.keys(kept).length > 0 && { metadata: kept }),
  }
}
