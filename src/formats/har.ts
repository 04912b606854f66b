/**
 * Calls of a provider as they went over the wire, captured by others: HAR files (browsers, proxies, mitmproxy) and claude-trace's JSON Lines.
 * Each call tells what was new in its request and what was answered; streams are put together.
 */
import { counted } from '../transcript/counted.ts'
import { isHansardError } from '../errors.ts'
import type { Damage, DamageKind } from '../transcript/damage.ts'
import { fromMillis, parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  parseJson,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { createReassembly } from '../wire/apis.ts'
import { toApi } from '../wire/call-paths.ts'
import type { WireApi } from '../wire/message.ts'
import { createSseParser } from '../wire/sse.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import type { Place, Said } from './placing.ts'
import { fromAnswer, fromRequest, fromResponse } from './provider-entries.ts'
import { tellLines, type Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { readInnerList } from './list-document.ts'
import { createToldMessages, type ToldMessages } from './told-messages.ts'

export const har = fileFormat({
  id: 'har',
  title: "HAR and claude-trace: a provider's calls, captured",
  look: lookAtCapture,
  read: readCapture,
})

function lookAtCapture(head: Head): Detection | undefined {
  const document = documentOf(head)
  const log = isObject(document) ? asObject(document['log']) : undefined
  if (log !== undefined && 'entries' in log && 'version' in log)
    return { confidence: 0.9, reason: 'a log of requests and responses' }
  const traced = head.records.filter(
    ({ request, response }) => isTraced(request) && (response === null || isObject(response)),
  ).length
  if (traced === 0 || traced * 2 < head.records.length) return undefined
  return { confidence: 0.95, reason: `${counted(traced, 'call')} with their requests and responses` }
}

const isTraced = (request: Json | undefined): boolean =>
  isObject(request) &&
  typeof request['url'] === 'string' &&
  typeof request['method'] === 'string' &&
  'headers' in request

async function* readCapture(
  file: SourceFile,
  { open, head }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  const told = createToldMessages()
  if (documentOf(head) === undefined || head.records.length > 1 || isTraced(head.records[0]?.['request'])) {
    yield* tellLines(file, telling, (value, place) => tellCall(value, place, telling, told))
    return
  }
  const { document, damage, sizeBytes } = await readWhole(file)
  if (damage?.kind === 'too-large') return yield* readLarge(file, telling, told)
  const place = { file: file.path, number: 1, byteOffset: 0, byteLength: sizeBytes }
  if (damage !== undefined) telling.damage(damage)
  const log = asObject(document?.['log'])
  const { entries, ...about } = log ?? {}
  if (document !== undefined)
    telling.say(unknownSaid({ ...document, ...(log !== undefined && { log: about }) }, 'log'), place)
  for (const [index, entry] of (asArray(entries) ?? []).entries()) {
    tellCall(entry, { ...place, number: index + 1 }, telling, told)
    if (index % 64 === 63) yield telling.take()
  }
  yield telling.end()
}

/** Call by call. One that is not right from end to end says nothing of what is in it. */
async function* readLarge(
  file: SourceFile,
  telling: Telling,
  told: ToldMessages,
): AsyncGenerator<readonly ReadItem[]> {
  const found = await readInnerList(file, 'log', 'entries')
  const place = { file: file.path, byteOffset: 0, byteLength: found?.sizeBytes ?? file.sizeBytes }
  if (found === undefined)
    telling.damage({ kind: 'not-json', line: 1, reason: 'not JSON, or cut off', ...place })
  else telling.say(unknownSaid({ log: found.members }, 'log'), { ...place, number: 1 })
  for (const one of found?.damage ?? []) telling.damage(one)
  let number = 0
  for await (const elements of found?.elements() ?? []) {
    for (const { value, byteOffset, byteLength } of elements) {
      number += 1
      const at = { file: file.path, number, byteOffset, byteLength }
      if (value === undefined) telling.say(unknownSaid(undefined), at)
      else tellCall(value, at, telling, told)
    }
    yield telling.take()
  }
  yield telling.end()
}

/** Up to here it is held whole; its calls then have no place of their own. */
const HELD_BYTES = 4 * 1024 * 1024

type Whole = { readonly document?: JsonObject; readonly damage?: Damage; readonly sizeBytes: number }

async function readWhole(file: SourceFile): Promise<Whole> {
  const damaged = (kind: DamageKind, reason: string): Damage => ({
    kind,
    file: file.path,
    line: 1,
    byteOffset: 0,
    byteLength: file.sizeBytes,
    reason,
  })
  try {
    const bytes = await file.bytes(HELD_BYTES)
    const document = asObject(parseJson(bytes.toString('utf8').replace(/^\uFEFF/, '')))
    if (document !== undefined) return { document, sizeBytes: bytes.length }
    return { damage: damaged('not-json', 'not JSON, or cut off'), sizeBytes: bytes.length }
  } catch (error) {
    if (!isHansardError(error) || error.code !== 'too-large') throw error
    return { damage: damaged('too-large', `over ${HELD_BYTES} bytes`), sizeBytes: file.sizeBytes }
  }
}

function tellCall(value: Json, place: Place, telling: Telling, told: ToldMessages): void {
  const call = isObject(value) ? callOf(value) : undefined
  if (!isObject(value) || call === undefined)
    return telling.say(unknownSaid(isObject(value) ? withoutSecrets(value) : value, 'exchange'), place)
  const { api, request, answer, startedAt, endedAt, around } = call
  const stamp = (said: Said, at: string | undefined): Said => ({ ...said, ...(at !== undefined && { at }) })
  const asked = fromRequest(api, request)
  for (const said of told.news(asked.filter(({ kind }) => kind === 'message')))
    telling.say(stamp(said, startedAt), place)
  const parameters = asked.find(({ metadata }) => metadata?.['record'] === 'request')
  if (parameters !== undefined) telling.say(stamp(parameters, startedAt), place)
  if (answer === undefined) return telling.say(stamp(unknownSaid(around, 'exchange'), startedAt), place)
  told.tell(answer)
  telling.say(
    stamp({ ...answer, metadata: { ...answer.metadata, exchange: around } }, endedAt ?? startedAt),
    place,
  )
}

type Captured = {
  readonly api: WireApi
  readonly request: JsonObject
  /** Undefined for a call that nothing came back of. */
  readonly answer: Said | undefined
  readonly startedAt?: string
  readonly endedAt?: string
  /** What is neither body: the address, what the headers say, times. */
  readonly around: JsonObject
}

/** Undefined for what is no call of a provider. */
function callOf(value: JsonObject): Captured | undefined {
  const { request: asked, response: answered, ...others } = value
  const request = asObject(asked)
  const response = asObject(answered)
  const api = apiOf(asString(request?.['url']) ?? '')
  const { postData, body, headers, ...rest } = request ?? {}
  const sent =
    asObject(body) ?? asObject(parseJson(asString(asObject(postData)?.['text']) ?? asString(body) ?? ''))
  if (api === undefined || sent === undefined) return undefined
  const { content, body: whole, body_raw: raw, events, headers: given, ...about } = response ?? {}
  const packed = asObject(content)
  const isPacked = packed?.['encoding'] === 'base64'
  const stated = asString(packed?.['text'])
  const text =
    asString(raw) ??
    (isPacked && stated !== undefined ? Buffer.from(stated, 'base64').toString('utf8') : stated) ??
    asString(whole) ??
    ''
  const startedAt = parseInstant(value['startedDateTime']) ?? secondsOf(request?.['timestamp'])
  const lasted = asNumber(value['time'])
  const endedAt =
    secondsOf(response?.['timestamp']) ??
    (startedAt === undefined || lasted === undefined ? undefined : fromMillis(Date.parse(startedAt) + lasted))
  return {
    api,
    request: sent,
    answer:
      response === undefined
        ? undefined
        : isObject(whole)
          ? fromResponse(api, whole)
          : answerIn(text === '' ? toStream(events) : text, api),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    around: withoutSecrets({
      ...others,
      request: { ...rest, ...(headers !== undefined && { headers }) },
      response: { ...about, ...(given !== undefined && { headers: given }) },
    }),
  }
}

/** What an exchange says beside what was sent, without what it was allowed by. */
function withoutSecrets(exchange: JsonObject): JsonObject {
  const clean = (side: Json | undefined): Json | undefined => {
    if (!isObject(side)) return side
    const { cookies: _, headers, queryString, url, ...rest } = side
    return {
      ...rest,
      ...(url !== undefined && { url: typeof url === 'string' ? withoutKey(url) : url }),
      ...(headers !== undefined && { headers: withoutKeys(headers) }),
      ...(queryString !== undefined && { queryString: withoutKeys(queryString) }),
    }
  }
  const [request, response] = [clean(exchange['request']), clean(exchange['response'])]
  return {
    ...exchange,
    ...(request !== undefined && { request }),
    ...(response !== undefined && { response }),
  }
}

const SECRET = /authorization|api-?key|^key$|cookie|token|secret|signature/i

/** Captures hold the keys that calls were made with: these go nowhere. As a list of names and values, or by name. */
function withoutKeys(headers: Json): Json {
  if (Array.isArray(headers))
    return (headers as readonly Json[]).filter(
      (one) => !(isObject(one) && SECRET.test(asString(one['name']) ?? '')),
    )
  if (!isObject(headers)) return headers
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET.test(name)))
}

/** Some APIs have their key in the address. */
function withoutKey(url: string): string {
  const at = url.indexOf('?')
  if (at < 0) return url
  const kept = url
    .slice(at + 1)
    .split('&')
    .filter((pair) => !SECRET.test(pair.split('=', 1)[0] ?? ''))
  return kept.length === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${kept.join('&')}`
}

/** Events that a logger has taken apart, as the stream that they came in. */
function toStream(events: Json | undefined): string {
  return (asArray(events) ?? [])
    .filter(isObject)
    .map(({ event, data }) => {
      const name = typeof event === 'string' ? `event: ${event}\n` : ''
      return `${name}data: ${typeof data === 'string' ? data : toJson(data ?? null)}\n\n`
    })
    .join('')
}

const secondsOf = (value: Json | undefined): string | undefined =>
  fromMillis((asNumber(value) ?? Number.NaN) * 1000)

function apiOf(url: string): WireApi | undefined {
  const path = /^[a-z]+:\/\/[^/]+(\/[^?#]*)/i.exec(url)?.[1]
  const api = path === undefined ? undefined : toApi(path).api
  return api === 'anthropic-messages' ||
    api === 'openai-chat' ||
    api === 'openai-responses' ||
    api === 'gemini'
    ? api
    : undefined
}

/** One JSON value, or a stream of events. */
function answerIn(text: string, api: WireApi): Said {
  const whole = parseJson(text)
  if (whole !== undefined) return fromResponse(api, whole)
  const parser = createSseParser()
  const message = createReassembly(api)
  for (const event of [...parser.push(Buffer.from(text)), ...parser.end()]) message.push(event)
  return fromAnswer(message.end())
}
