/**
 * ATOF, NVIDIA's raw stream of an agent's events, read: scopes of agents, models and tools that start and end, and marks. A model's request
 * repeats the conversation; each message is told once, the answer where its scope ends.
 */
import { counted } from '../transcript/counted.ts'
import type { Block } from '../transcript/block.ts'
import { PRIMARY } from '../transcript/entry.ts'
import { millisBetween, parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asObject,
  asString,
  isObject,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { Usage } from '../transcript/usage.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import { fromOpenAiUsage } from '../wire/openai-usage.ts'
import { vocabulary } from './drift.ts'
import { fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { isInstant, takes } from './left-over.ts'
import { asId, type Place, type Said } from './placing.ts'
import { fromRequest, fromResponse } from './provider-entries.ts'
import { toUnit } from './provider-shapes.ts'
import { tellLines, type Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { createToldMessages } from './told-messages.ts'
import { inside, unsaid, withUnsaid } from './unsaid.ts'
import { fromWireMessage } from './wire-said.ts'

export const atof = fileFormat({
  id: 'atof',
  title: "ATOF: NVIDIA's stream of an agent's events",
  look: lookAtAtof,
  vocabulary: vocabulary({
    records: ['scope: scope_category attributes', 'mark:', 'stream:'],
    common:
      'kind atof_version category category_profile uuid parent_uuid data data_schema timestamp name metadata schema',
  }),
  read: readAtof,
})

function lookAtAtof({ records }: Head): Detection | undefined {
  const events = records.filter((one) => 'atof_version' in one && typeof one['kind'] === 'string').length
  if (events === 0 || events * 2 < records.length) return undefined
  return { confidence: 0.98, reason: `${counted(events, 'event')} with ATOF's version` }
}

async function* readAtof(
  file: SourceFile,
  { open, watch }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  const next = createScopes(telling)
  yield* tellLines(file, telling, (value, place) => {
    if (isObject(value)) watch?.record(asString(value['kind']) ?? 'unknown', value)
    next(value, place)
  })
}

type Scope = { readonly source: string; readonly hasAgent: boolean; readonly startedAt: string | undefined }

function createScopes(telling: Telling): (value: Json, place: Place) => void {
  const scopes = new Map<string, Scope>()
  const told = createToldMessages()
  const calls = new Set<string>()
  let isNamed = false
  return (value, place) => {
    if (!isObject(value)) return telling.say(unknownSaid(value), place)
    const { kind, scope_category: edge, category } = value
    const uuid = asId(value['uuid']) ?? ''
    const parent = scopes.get(asId(value['parent_uuid']) ?? '')
    const at = parseInstant(value['timestamp'])
    const isAgent = category === 'agent'
    const own: Scope = scopes.get(uuid) ?? {
      source: isAgent && parent?.hasAgent === true ? `subagent:${uuid}` : (parent?.source ?? PRIMARY),
      hasAgent: isAgent || parent?.hasAgent === true,
      startedAt: at,
    }
    if (kind === 'scope' && edge === 'start' && uuid !== '') scopes.set(uuid, own)
    if (!isNamed && uuid !== '') {
      const name = asString(value['name'])
      telling.know({ sessionId: uuid, ...(isAgent && name !== undefined && { agent: name }) })
      isNamed = true
    }
    const durationMs = edge === 'end' ? millisBetween(own.startedAt, at) : undefined
    const where = {
      ...(own.source !== PRIMARY && { source: own.source }),
      ...(at !== undefined && { at }),
    }
    const say = (said: Said): void => telling.say({ ...said, ...where }, place)
    const ended = { ...(durationMs !== undefined && durationMs >= 0 && { durationMs }) }
    if (edge === 'end') scopes.delete(uuid)
    if (category === 'llm' && edge === 'start') {
      const asked = askedOf(value['data'])
      // Each request's own fields, without the conversation that it repeats.
      say({ ...unknownSaid(asked === undefined ? value : { ...value, data: asked.around }, 'llm.start') })
      for (const message of told.news(asked?.messages ?? [])) say(message)
      return
    }
    if (category === 'llm' && edge === 'end') {
      const answer = answerOf(value)
      for (const block of answer.blocks)
        if (block.type === 'tool-call' && block.callId !== undefined) calls.add(block.callId)
      told.tell(answer)
      return say({ ...answer, ...ended })
    }
    if (category === 'tool' && kind === 'scope') {
      const callId = asString(asObject(value['category_profile'])?.['tool_call_id'])
      const result = fromTool(value, callId, edge === 'end')
      // A call that its answer told is not told again.
      if (edge === 'start' && callId !== undefined && calls.has(callId))
        return say(unknownSaid(value, 'tool.start'))
      if (edge === 'end') told.tell(result)
      return say({ ...result, ...ended })
    }
    say({
      ...unknownSaid(value, [category, edge].filter((one) => typeof one === 'string').join('.')),
      ...ended,
    })
  }
}

const isMessages = (data: JsonObject): boolean =>
  Array.isArray(data['messages']) || Array.isArray(data['contents'])

function askedOf(
  data: Json | undefined,
): { readonly messages: readonly Said[]; readonly around: JsonObject } | undefined {
  if (!isObject(data) || !isMessages(data)) return undefined
  const { messages, contents, ...around } = data
  const unit = toUnit(data)
  if (unit?.request === undefined || unit.api === 'openai-chat') {
    const list = (asArray(messages ?? contents) ?? []).map(withFunctions)
    return { messages: list.map((one) => fromWireMessage('openai-chat', one)), around }
  }
  const said = fromRequest(unit.api, unit.request).filter(
    (one) => one.kind === 'message' || one.metadata?.['record'] !== 'request',
  )
  return { messages: said, around }
}

/** `{id, name, arguments}`, as ATOF's examples say a call, as OpenAI says it. */
function withFunctions(message: Json): Json {
  const calls = isObject(message) ? asArray(message['tool_calls']) : undefined
  if (!isObject(message) || calls === undefined) return message
  return {
    ...message,
    tool_calls: calls.map((call) => {
      if (!isObject(call) || typeof call['name'] !== 'string' || 'function' in call) return call
      const { name, arguments: given, ...others } = call
      return {
        ...others,
        type: 'function',
        function: { name, ...(given !== undefined && { arguments: given }) },
      }
    }),
  }
}

const WORDS =
  'data messages content tool_calls id name arguments type function choices message candidates parts text role model finish_reason assistant stop_reason usage'
const TAKEN = takes({
  timestamp: isInstant,
  data: inside(WORDS),
  category: inside('llm tool'),
  kind: inside('scope'),
  scope_category: inside('llm tool'),
  atof_version: inside('0.1'),
})

function answerOf(event: JsonObject): Said {
  const { data } = event
  const unit = isObject(data) ? toUnit(data) : undefined
  const profile = asObject(event['category_profile'])
  const plain = isObject(data)
    ? fromWireMessage('openai-chat', withFunctions({ role: 'assistant', ...data }))
    : undefined
  const read = unit?.response === undefined ? plain : fromResponse(unit.api, unit.response)
  if (read === undefined || read.kind === 'event') return unknownSaid(event, 'llm.end')
  const model = asString(profile?.['model_name'])
  const usage =
    read.usage?.quality === 'unavailable' || read.usage === undefined ? usageOf(event) : read.usage
  const { usage: _, ...others } = read
  const said: Said = {
    ...others,
    ...(model !== undefined && { model: read.model ?? model }),
    ...(usage !== undefined && { usage }),
  }
  return withUnsaid(said, event, TAKEN)
}

/** Counts stand beside the answer where a tool puts them; nobody has said where they must. */
function usageOf({ data, category_profile, metadata }: JsonObject): Usage | undefined {
  for (const place of [data, category_profile, metadata]) {
    const raw = asObject(asObject(place)?.['usage']) ?? asObject(asObject(place)?.['token_usage'])
    if (raw !== undefined)
      return 'cache_read_input_tokens' in raw ? fromAnthropicUsage(raw) : fromOpenAiUsage(raw)
  }
  return undefined
}

function fromTool(event: JsonObject, callId: string | undefined, isEnd: boolean): Said {
  const { data } = event
  const name = asString(event['name']) ?? 'tool'
  const result =
    isObject(data) && Object.keys(data).length === 1
      ? (data['result'] ?? data['output'] ?? data)
      : (data ?? null)
  const output = typeof result === 'string' ? result : toJson(result)
  const id = callId === undefined ? {} : { callId }
  const block: Block = isEnd
    ? { type: 'tool-result', ...id, name, output }
    : { type: 'tool-call', ...id, name, input: data ?? null }
  const said: Said = { kind: 'message', role: isEnd ? 'tool' : 'assistant', blocks: [block] }
  const left = unsaid(event, new Map([...TAKEN, ['data', () => true]]), said)
  return left === undefined ? said : { ...said, metadata: left }
}
