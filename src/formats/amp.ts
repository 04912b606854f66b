/**
 * Sourcegraph's Amp, read: a thread as one document around messages of Anthropic's shape, each answer with its counts. What tools returned is
 * in Amp's own words: the call's id and how its run went.
 */
import { fromMillis, parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asCount,
  asNumber,
  asObject,
  asString,
  isObject,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { withoutZeros, type Usage } from '../transcript/usage.ts'
import { vocabulary, type DriftWatch } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { isRecord, takes } from './left-over.ts'
import { PLACES } from './places.ts'
import { asId, type Said } from './placing.ts'
import { tellList, type Facts } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { fromWireMessage } from './wire-said.ts'

export const amp = fileFormat({
  id: 'amp',
  title: 'Amp: threads/T-*.json',
  look: lookAtThread,
  vocabulary: vocabulary({
    records: [
      `thread: v id created title env messages meta nextMessageId agentMode draft autoDraft queuedMessages mainThreadID originThreadID
       relationships pendingSkills activatedSkills visibility creatorUserID archived updatedAt userLastInteractedAt usageLedger`,
      'message: role content usage meta state messageId userState fileMentions originalToolUseInput agentMode readAt dtwMessageID turnElapsedMs',
      'usage: model inputTokens maxInputTokens outputTokens cacheCreationInputTokens cacheReadInputTokens totalInputTokens timestamp credits',
    ],
    blocks: 'text thinking redacted_thinking tool_use tool_result image summary',
  }),
  read: readThread,
  places: PLACES.amp,
})

function lookAtThread(head: Head): Detection | undefined {
  const document = documentOf(head)
  if (!isObject(document)) return undefined
  const { id, messages, created, env } = document
  const isThread = typeof id === 'string' && /^T-[\w-]{8,}/.test(id) && 'messages' in document
  if (!isThread) return undefined
  const isSure = typeof created === 'number' || isObject(env)
  return {
    confidence: isSure ? 0.95 : Array.isArray(messages) ? 0.7 : 0.5,
    reason: "a thread's id and messages",
  }
}

async function* readThread(
  file: SourceFile,
  { open, watch }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  yield* tellList(file, 'messages', telling, {
    header(members, place) {
      watch?.record('thread', members)
      telling.know(factsOf(members))
      telling.say(unknownSaid(members, 'thread'), place)
    },
    element(value, place) {
      if (isObject(value) && watch !== undefined) watchMessage(watch, value)
      telling.say(fromMessage(value, telling.id()), place)
    },
  })
}

function watchMessage(watch: DriftWatch, message: JsonObject): void {
  watch.record('message', message)
  const usage = asObject(message['usage'])
  if (usage !== undefined) watch.record('usage', usage)
  for (const block of (asArray(message['content']) ?? []).filter(isObject))
    watch.block(asString(block['type']) ?? 'none')
}

const TAKEN = takes({ usage: isRecord })

function fromMessage(value: Json, thread: string): Said {
  if (!isObject(value)) return unknownSaid(value)
  const parts = asArray(value['content'])
  const message = parts === undefined ? value : { ...value, content: parts.map(toAnthropic) }
  const read = fromWireMessage('anthropic-messages', message, TAKEN)
  // Summaries and notes to the person are `info`, which is no role of a conversation.
  if (read.kind === 'event') return unknownSaid(value)
  const stopReason = asString(asObject(value['state'])?.['stopReason'])
  const isAnswer = read.role === 'assistant'
  const said: Said = { ...read, ...(isAnswer && stopReason !== undefined && { stopReason }) }
  const raw = asObject(value['usage'])
  const at = timeOf(raw?.['timestamp']) ?? timeOf(asObject(value['meta'])?.['sentAt'])
  const timed = at === undefined ? {} : { at }
  if (raw === undefined || said.role !== 'assistant')
    return { ...said, ...timed, ...(raw !== undefined && { metadata: { ...said.metadata, usage: raw } }) }
  const model = asString(raw['model'])
  const number = asCount(value['messageId'])
  return {
    ...said,
    ...timed,
    ...(model !== undefined && { model }),
    usage: usageOf(raw),
    // A thread numbers its messages: the same wherever its file was copied to.
    ...(number !== undefined && { call: { messageId: `amp:${thread}/${number}` } }),
  }
}

/** `{toolUseID, run: {status, result}}` in Anthropic's words; what else a run says goes along. */
function toAnthropic(block: Json): Json {
  if (!isObject(block) || block['type'] !== 'tool_result') return block
  const { toolUseID, run, ...others } = block
  if (!isObject(run) || typeof toolUseID !== 'string') return block
  const field = ['result', 'progress', 'error'].find((name) => run[name] !== undefined && run[name] !== null)
  const told = field === undefined ? undefined : run[field]
  const { [field ?? '']: _, ...left } = run
  return {
    ...others,
    tool_use_id: toolUseID,
    ...(told !== undefined && { content: typeof told === 'string' ? told : toJson(told) }),
    ...(FAILED.has(run['status'] as string) && { is_error: true }),
    run: left,
  }
}

const FAILED: ReadonlySet<string> = new Set(['error', 'cancelled', 'rejected-by-user'])

const timeOf = (value: Json | undefined): string | undefined =>
  parseInstant(value) ?? fromMillis(asNumber(value) ?? Number.NaN)

/** Input excludes what was cached. */
function usageOf(raw: JsonObject): Usage {
  const input = asCount(raw['inputTokens'])
  const output = asCount(raw['outputTokens'])
  const cacheRead = asCount(raw['cacheReadInputTokens'])
  const cacheWrite5m = asCount(raw['cacheCreationInputTokens'])
  return withoutZeros({
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    quality: 'reported',
    raw,
  })
}

function factsOf(thread: JsonObject): Facts {
  const sessionId = asId(thread['id'])
  const title = asString(thread['title'])
  const startedAt = timeOf(thread['created'])
  const [tree] = asArray(asObject(asObject(thread['env'])?.['initial'])?.['trees']) ?? []
  const place = asObject(tree)?.['uri']
  const uri = asString(place) ?? asString(asObject(place)?.['fsPath'])
  const repository = asObject(asObject(tree)?.['repository'])
  const remote = asString(repository?.['url'])
  const branch = asString(repository?.['ref'])?.replace(/^refs\/heads\//, '')
  const commit = asString(repository?.['sha'])
  const git = {
    ...(branch !== undefined && { branch }),
    ...(commit !== undefined && { commit }),
    ...(remote !== undefined && { remote }),
  }
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(title !== undefined && title !== '' && { title }),
    ...(startedAt !== undefined && { startedAt }),
    ...(uri !== undefined && { cwd: pathOf(uri) }),
    ...(Object.keys(git).length > 0 && { git }),
  }
}

function pathOf(uri: string): string {
  if (!uri.startsWith('file://')) return uri
  try {
    return decodeURIComponent(uri.slice('file://'.length))
  } catch {
    return uri
  }
}
