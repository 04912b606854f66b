/**
 * A first pass over Gemini CLI's event log, for what only its end can tell: which version of each message is the last, which
 * messages were taken back, and what the header came to. Memory is an id and a hash for each message.
 */
import { uuidFrom } from '../transcript/ids.ts'
import { asArray, asString, isObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { readRecords, type JsonRecord } from '../transcript/records.ts'
import type { SourceFile } from '../transcript/source.ts'
import { reportOf } from './gemini-cli-message.ts'
import { createGeminiFold, type GeminiFacts } from './gemini-cli-session.ts'
import { createRecentIds } from './id-set.ts'
import { asId } from './placing.ts'

/** A message's version: where its line begins, and its place in that line's list, -1 for a line of its own. */
export type Version = { readonly byteOffset: number; readonly index: number }

/**
 * The version that counts. Where it states no tokens (a last snapshot may have lost them), those before it speak for the call. `at`: the
 * first timestamp that the message had; resuming a session restates it with a new one.
 */
export type LastVersion = Version & { readonly isCounted: boolean; readonly at: Json | undefined }

export type GeminiSurvey = {
  readonly facts: GeminiFacts
  /** Lines behind it were written after the survey: another reading takes them. */
  readonly lastRecord: number
  /** The version that counts; undefined for a message that only restates another, or has no id. */
  version(id: string): LastVersion | undefined
  isRewound(id: string): boolean
  /** True for a message that holds nothing but results which stand in `toolCalls`, too. */
  repeatsResults(message: JsonObject): boolean
}

export type GeminiRecord =
  | { readonly type: 'message'; readonly message: JsonObject }
  | { readonly type: 'rewind'; readonly to: string }
  /** `messages` is there for a checkpoint: the list that the model is shown from here on. */
  | { readonly type: 'header' | 'patch'; readonly said: JsonObject; readonly messages?: readonly Json[] }
  | { readonly type: 'unknown' }

export function toGeminiRecord(value: Json): GeminiRecord {
  if (!isObject(value)) return { type: 'unknown' }
  const { $rewindTo: to, $set: set, id, type } = value
  if (typeof to === 'string') return { type: 'rewind', to }
  if (isObject(set)) return { type: 'patch', said: set, ...listOf(set) }
  if (typeof type === 'string' && (id !== undefined || 'content' in value))
    return { type: 'message', message: value }
  if (id !== undefined || !('sessionId' in value || 'projectHash' in value)) return { type: 'unknown' }
  return { type: 'header', said: value, ...listOf(value) }
}

/** More messages than any session has; the rest of a hostile log is read as it comes. */
const MOST_IDS = 1_000_000

export async function surveyGeminiLog(file: SourceFile): Promise<GeminiSurvey> {
  const fold = createGeminiFold()
  const versions = new Map<string, LastVersion & { readonly hash: string }>()
  const said = createRecentIds()
  const results = createRecentIds()
  /** What the program would show now, in its order. */
  let live: string[] = []
  let places = new Map<string, number>()
  const rewound = new Set<string>()
  let lastRecord = 0

  const observe = (message: JsonObject, at: Version): void => {
    const id = asId(message['id'])
    if (id === undefined) return
    const known = versions.get(id)
    const isCopy = at.index >= 0 && known === undefined && said.has(sayingOf(message))
    if (!places.has(id)) {
      places.set(id, live.length)
      live.push(id)
    }
    rewound.delete(id)
    // A list says what the model is shown: without tokens, model and results that the message's own line has.
    const isRestated = at.index >= 0 && known !== undefined && known.index < 0
    if (isCopy || isRestated || (known === undefined && versions.size >= MOST_IDS)) return
    fold.message(message)
    said.add(sayingOf(message))
    for (const call of asArray(message['toolCalls']) ?? [])
      for (const part of (isObject(call) ? asArray(call['result']) : undefined) ?? [])
        results.add(uuidFrom(toJson(part)))
    const hash = uuidFrom(toJson({ ...message, timestamp: null }))
    const isCounted = reportOf(message, undefined) !== undefined
    const first = known?.at ?? message['timestamp']
    if (known?.hash !== hash) versions.set(id, { ...at, hash, isCounted, at: first })
  }
  const rewind = (to: string): void => {
    // As the program does: an id that it does not know takes everything back.
    for (const id of live.splice(places.get(to) ?? 0)) {
      places.delete(id)
      rewound.add(id)
    }
  }

  // Not in this frame: it would hold on to the last of them while the next are read.
  const take = ({ value, number, byteOffset }: JsonRecord): void => {
    lastRecord = Math.max(lastRecord, number)
    const record = toGeminiRecord(value)
    if (record.type === 'rewind') rewind(record.to)
    else if (record.type === 'message') observe(record.message, { byteOffset, index: -1 })
    else if (record.type !== 'unknown') {
      fold.patch(record.said)
      if (record.messages === undefined) return
      live = []
      places = new Map()
      for (const [index, message] of record.messages.entries())
        if (isObject(message)) observe(message, { byteOffset, index })
    }
  }
  for await (const { records, damage } of readRecords(file)) {
    for (const { line } of damage) lastRecord = Math.max(lastRecord, line ?? 0)
    records.forEach(take)
  }
  return {
    facts: fold.facts(),
    lastRecord,
    version: (id) => versions.get(id),
    isRewound: (id) => rewound.has(id),
    repeatsResults({ type, content }) {
      const parts = asArray(content) ?? []
      return type === 'user' && parts.length > 0 && parts.every((part) => results.has(uuidFrom(toJson(part))))
    },
  }
}

function listOf(said: JsonObject): { readonly messages?: readonly Json[] } {
  const messages = asArray(said['messages'])
  return messages === undefined ? {} : { messages }
}

/** What a message says, whatever its id: compression gives the turns it keeps new ones. */
function sayingOf({ type, content, toolCalls }: JsonObject): string {
  const calls = (asArray(toolCalls) ?? []).map((call) =>
    isObject(call) ? [asString(call['name']) ?? null, call['args'] ?? null] : call,
  )
  return toJson([type ?? null, content ?? null, calls])
}
