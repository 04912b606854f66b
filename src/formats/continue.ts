/** Continue's sessions, read: one document around a history, whose items hold a message each and what was given to the model with it. */
import { counted } from '../transcript/counted.ts'
import {
  asArray,
  asCount,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Block } from '../transcript/block.ts'
import type { SourceFile } from '../transcript/source.ts'
import { hasCounts, withoutZeros, type Usage } from '../transcript/usage.ts'
import { costOf, toDollars } from './dollars.ts'
import { vocabulary, type DriftWatch } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { isNamed, isText, takes } from './left-over.ts'
import { PLACES } from './places.ts'
import { asId, type Said } from './placing.ts'
import { tellList, type Facts } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { withUnsaid } from './unsaid.ts'
import { fromWireMessage } from './wire-said.ts'

export const continueSessions = fileFormat({
  id: 'continue',
  title: 'Continue: sessions/<id>.json',
  look: lookAtSession,
  vocabulary: vocabulary({
    records: [
      'session: sessionId title workspaceDirectory history mode chatModelTitle usage dateCreated',
      `item: message contextItems promptLogs toolCallStates editorState modifiers reasoning conversationSummary isGatheringContext
       appliedRules`,
      'message: role content id toolCalls toolCallId usage reasoning_details redactedThinking signature metadata',
      'usage: promptTokens completionTokens promptTokensDetails completionTokensDetails totalCost',
      'state: toolCallId toolCall status parsedArgs processedArgs output tool mcpUiState',
    ],
  }),
  read: readSession,
  places: PLACES.continue,
})

function lookAtSession(head: Head): Detection | undefined {
  const document = documentOf(head)
  if (!isObject(document)) return undefined
  const { sessionId, history, workspaceDirectory } = document
  if (typeof sessionId !== 'string' || typeof workspaceDirectory !== 'string' || !('history' in document))
    return undefined
  const items = (asArray(history) ?? []).filter((one) => isObject(one) && isObject(one['message'])).length
  return {
    confidence: items > 0 ? 0.95 : 0.8,
    reason: `a session of a workspace with ${counted(items, 'message')}`,
  }
}

async function* readSession(
  file: SourceFile,
  { open, watch }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  /** Calls whose result stood with them: a tool's message that says it again is a copy. */
  const returned = new Map<string, string>()
  yield* tellList(file, 'history', telling, {
    header(members, place) {
      watch?.record('session', members)
      telling.know(factsOf(members))
      telling.say(unknownSaid(members, 'session'), place)
    },
    element(value, place) {
      if (isObject(value) && watch !== undefined) watchItem(watch, value)
      for (const said of fromItem(value, returned)) telling.say(said, place)
    },
  })
}

const MESSAGE = takes({ toolCalls: Array.isArray, toolCallId: isText, id: isNamed })

function fromItem(item: Json, returned: Map<string, string>): readonly Said[] {
  const message = isObject(item) ? asObject(item['message']) : undefined
  if (!isObject(item) || message === undefined) return [unknownSaid(item)]
  const { role } = message
  const answered = asString(message['toolCallId'])
  const isCopy = role === 'tool' && answered !== undefined && returned.get(answered) === message['content']
  if (isCopy) return [unknownSaid(item, 'copy')]
  const isThinking = role === 'thinking'
  const calls = message['toolCalls']
  const callId = asString(message['toolCallId'])
  // Its own words for OpenAI's.
  const chat: JsonObject = {
    ...message,
    role: isThinking ? 'assistant' : (role ?? null),
    ...(calls !== undefined && { tool_calls: calls }),
    ...(callId !== undefined && { tool_call_id: callId }),
  }
  const read = fromWireMessage('openai-chat', chat, MESSAGE)
  if (read.kind === 'event') return [unknownSaid(item)]
  const blocks = isThinking
    ? read.blocks.map((block): Block =>
        block.type === 'text' ? { type: 'thinking', text: block.text } : block,
      )
    : read.blocks
  const log = asObject(asArray(item['promptLogs'])?.[0])
  const model = role === 'assistant' ? asString(log?.['modelTitle']) : undefined
  const provider = asString(log?.['modelProvider'])
  const usage =
    role === 'assistant' && isObject(message['usage']) ? usageOf(message['usage'], provider) : undefined
  const id = asId(message['id'])
  const said: Said = {
    ...read,
    ...(id !== undefined && { id }),
    blocks,
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
  }
  return [withUnsaid(said, item, ITEM), ...resultsOf(item, returned)]
}

function watchItem(watch: DriftWatch, item: JsonObject): void {
  watch.record('item', item)
  const message = asObject(item['message'])
  if (message !== undefined) watch.record('message', message)
  const usage = asObject(message?.['usage'])
  if (usage !== undefined) watch.record('usage', usage)
  for (const state of (asArray(item['toolCallStates']) ?? []).filter(isObject)) watch.record('state', state)
}

/** What was given with it is kept; an empty list of it is nothing. */
const ITEM = takes({
  message: isRecordTaken,
  contextItems: isEmpty,
  promptLogs: isEmpty,
  editorState: isEmpty,
})

function isRecordTaken(value: Json): boolean {
  return isObject(value)
}

function isEmpty(value: Json): boolean {
  return Array.isArray(value) && value.length === 0
}

/** A copy comes soon after. */
const MOST_RETURNED = 100

/** Calls stand with what they returned. */
function resultsOf(item: JsonObject, returned: Map<string, string>): readonly Said[] {
  const states =
    asArray(item['toolCallStates']) ?? (isObject(item['toolCallState']) ? [item['toolCallState']] : [])
  return states.filter(isObject).flatMap((state): readonly Said[] => {
    const output = (asArray(state['output']) ?? [])
      .filter(isObject)
      .map((one) => asString(one['content']) ?? '')
    const callId = asString(state['toolCallId'])
    if (output.length === 0) return []
    if (callId !== undefined) {
      returned.set(callId, output.join('\n'))
      if (returned.size > MOST_RETURNED) returned.delete(returned.keys().next().value as string)
    }
    const isError = state['status'] === 'errored'
    return [
      {
        kind: 'message',
        role: 'tool',
        blocks: [
          {
            type: 'tool-result',
            ...(callId !== undefined && { callId }),
            output: output.join('\n'),
            ...(isError && { isError }),
          },
        ],
      },
    ]
  })
}

/**
 * As the provider has it: for Anthropic's models what was cached stands beside the prompt, and only these say what was written to a cache; for
 * others it is in the prompt.
 */
function usageOf(raw: JsonObject, provider?: string): Usage {
  const prompt = asCount(raw['promptTokens'])
  const output = asCount(raw['completionTokens'])
  const details = asObject(raw['promptTokensDetails'])
  const cacheRead = asCount(details?.['cachedTokens'])
  const cacheWrite5m = asCount(details?.['cacheWriteTokens'])
  const cached = (cacheRead ?? 0) + (cacheWrite5m ?? 0)
  const isApart = provider === 'anthropic' || cacheWrite5m !== undefined || (prompt ?? 0) < cached
  return withoutZeros({
    ...(prompt !== undefined && { input: isApart ? prompt : prompt - cached }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    quality: 'reported',
    raw,
  })
}

function factsOf(members: JsonObject): Facts {
  const sessionId = asId(members['sessionId'])
  const title = asString(members['title'])
  const cwd = asString(members['workspaceDirectory'])
  const model = asString(members['chatModelTitle'])
  const raw = asObject(members['usage'])
  const usage = raw && usageOf(raw)
  const cost = costOf(raw?.['totalCost'])
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(title !== undefined && title !== '' && { title }),
    ...(cwd !== undefined && cwd !== '' && { cwd: cwd.replace(/^file:\/\//, '') }),
    ...(model !== undefined && { model }),
    ...(usage !== undefined && hasCounts(usage) && { reportedUsage: usage }),
    ...(cost !== undefined && { reportedCost: toDollars(cost) }),
  }
}
