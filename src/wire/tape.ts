/**
 * The lines of a session's `tape.jsonl`: what was asked of a provider, and what it answered exactly as it came, for replay. What is no
 * such line is none: a crash may have cut it off.
 */
import { asArray, asCount, asObject, asString, type Json, type JsonObject } from '../transcript/json.ts'
import type { CallApi } from './call-apis.ts'

/** Beside the session's journal. */
export const TAPES = 'tape.jsonl'

/** An answer. `call`: as its entries name it; `chunks`: milliseconds since the request, and the bytes in base64. */
export type TapeJson = {
  readonly v: 1
  readonly call: string
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly chunks: readonly (readonly [number, string])[]
  /** Who broke it off, where it did not come to its end. */
  readonly broken?: string
}

/** A request, redacted. */
export type TapeRequestJson = {
  readonly v: 1
  readonly call: string
  readonly request: {
    readonly api: CallApi
    /** Whose it is: the source of the entries that it became. */
    readonly lane: string
    /** Without its query, which may hold a key. */
    readonly path?: string
    /** The few that change what is answered. */
    readonly headers?: { readonly [name: string]: string }
    /** The call whose request this one goes on with; absent for one that stands for itself. */
    readonly base?: string
    /** Fields that are as they are there. */
    readonly kept?: readonly string[]
    /** Of lists: how many items are as they are there; `body` has those that follow. */
    readonly same?: { readonly [field: string]: number }
    readonly body: Json
  }
}

/** A question about models or tokens, redacted; its answer is a `TapeJson` as those of calls are. No entry says anything of it. */
export type TapeInquiryJson = {
  readonly v: 1
  readonly call: string
  readonly inquiry: {
    readonly method: string
    /** Without its query. */
    readonly path: string
    /** Of the query, what says which part of a list is wanted. */
    readonly query?: { readonly [name: string]: string }
    /** Absent where nothing was sent. */
    readonly body?: Json
  }
}

export function toTapeInquiry(value: Json | undefined): TapeInquiryJson | undefined {
  const object = asObject(value)
  const inquiry = asObject(object?.['inquiry'])
  const [call, method, path] = [object?.['call'], inquiry?.['method'], inquiry?.['path']]
  if (object?.['v'] !== 1 || typeof call !== 'string') return undefined
  if (typeof method !== 'string' || typeof path !== 'string') return undefined
  const [query, body] = [asObject(inquiry?.['query']), inquiry?.['body']]
  return {
    v: 1,
    call,
    inquiry: {
      method,
      path,
      ...(query && { query: stringsOf(query) }),
      ...(body !== undefined && { body }),
    },
  }
}

/** Which part of a list, in what shape. The rest may be a key. */
const PAGING = [
  'after',
  'after_id',
  'before_id',
  'limit',
  'order',
  'page_size',
  'pageSize',
  'page_token',
  'pageToken',
]

/** `url`: path and query. */
export function toInquiry(method: string, url: string, body: Json | undefined): TapeInquiryJson['inquiry'] {
  const [path = '', search = ''] = url.split('?', 2)
  const said = new URLSearchParams(search)
  const query = PAGING.flatMap((name) => {
    const value = said.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return {
    method,
    path,
    ...(query.length > 0 && { query: Object.fromEntries(query) }),
    ...(body !== undefined && body !== null && { body }),
  }
}

/** A line as written; undefined for what is none, such as one that a crash cut off. */
export function toTapeRequest(value: Json | undefined): TapeRequestJson | undefined {
  const object = asObject(value)
  const request = asObject(object?.['request'])
  const [call, api, lane] = [object?.['call'], request?.['api'], request?.['lane']]
  if (object?.['v'] !== 1 || request === undefined || request['body'] === undefined) return undefined
  if (typeof call !== 'string' || typeof lane !== 'string' || !isCallApi(api)) return undefined
  const path = asString(request['path'])
  const headers = asObject(request['headers'])
  const base = asString(request['base'])
  return {
    v: 1,
    call,
    request: {
      api,
      lane,
      ...(path !== undefined && { path }),
      ...(headers && { headers: stringsOf(headers) }),
      ...(base !== undefined && {
        base,
        kept: (asArray(request['kept']) ?? []).filter((one) => typeof one === 'string'),
        same: countsOf(asObject(request['same']) ?? {}),
      }),
      body: request['body'],
    },
  }
}

export function toTape(value: Json | undefined): TapeJson | undefined {
  const object = asObject(value)
  const [call, status] = [object?.['call'], asCount(object?.['status'])]
  const [headers, chunks] = [asArray(object?.['headers']), asArray(object?.['chunks'])]
  if (object?.['v'] !== 1 || typeof call !== 'string' || !status || !headers || !chunks) return undefined
  const broken = asString(object['broken'])
  return {
    v: 1,
    call,
    status,
    headers: headers.flatMap((pair) => {
      const [name, said] = asArray(pair) ?? []
      return typeof name === 'string' && typeof said === 'string' ? [[name, said] as const] : []
    }),
    chunks: chunks.flatMap((pair) => {
      const [ms, data] = asArray(pair) ?? []
      return typeof ms === 'number' && typeof data === 'string' ? [[ms, data] as const] : []
    }),
    ...(broken !== undefined && { broken }),
  }
}

const APIS: ReadonlySet<unknown> = new Set<CallApi>([
  'anthropic-messages',
  'openai-chat',
  'openai-responses',
  'gemini',
  'bedrock-invoke',
  'bedrock-converse',
])

function isCallApi(value: unknown): value is CallApi {
  return APIS.has(value)
}

function stringsOf(object: JsonObject): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, one]) => (typeof one === 'string' ? [[name, one]] : [])),
  )
}

function countsOf(object: JsonObject): { [name: string]: number } {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, one]) =>
      asCount(one) === undefined ? [] : [[name, Number(one)]],
    ),
  )
}
