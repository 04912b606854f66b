/** Sourcegraph's Amp, read: a thread as one document around messages of Anthropic's shape, each answer with its counts. */
import { fromMillis, parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asCount,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { withoutZeros, type Usage } from '../transcript/usage.ts'
import { vocabulary } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { isRecord, takes } from './left-over.ts'
import { PLACES } from './places.ts'
import { asId, type Said } from './placing.ts'
import { tellList, toEvent, type Facts } from './telling.ts'
import { fromWireMessage } from './wire-said.ts'

export const amp = fileFormat({
  id: 'amp',
  title: 'Amp: threads/T-*.json',
  look: lookAtThread,
  vocabulary: vocabulary({
    records: [
      `thread: v id created title env messages meta nextMessageId agentMode draft autoDraft queuedMessages mainThreadID originThreadID
       relationships pendingSkills activatedSkills visibility creatorUserID archived updatedAt userLastInteractedAt`,
      'message: role content usage meta state messageId userState fileMentions originalToolUseInput agentMode readAt dtwMessageID turnElapsedMs',
      'usage: model inputTokens maxInputTokens outputTokens cacheCreationInputTokens cacheReadInputTokens totalInputTokens timestamp',
    ],
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
      telling.say(toEvent(members, 'thread'), place)
    },
    element(value, place) {
      if (isObject(value)) watch?.record('message', value)
      telling.say(fromMessage(value, telling.id()), place)
    },
  })
}

const TAKEN = takes({ usage: isRecord })

function fromMessage(value: Json, thread: string): Said {
  if (!isObject(value)) return toEvent(value)
  const said = fromWireMessage('anthropic-messages', value, TAKEN)
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
  const uri = asString(asObject(tree)?.['uri'])
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
