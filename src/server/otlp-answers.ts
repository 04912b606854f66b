/** How OTLP is answered: in the form that it was sent in, errors as a `Status` with a code of gRPC's. */
import { toJson, type JsonObject } from '../transcript/json.ts'
import { STATUS } from '../wire/otlp-schema.ts'
import { encodeProtobuf, type Schema } from '../wire/protobuf.ts'

/** Bytes of an export as it is sent. */
export const MOST_OTLP_BODY = 32 * 1024 * 1024

/** By its path, as it is routed. */
export function isOfOtlp(url: string): boolean {
  return /^\/v1(?:\/|$|\?)/i.test(url)
}

export function isProtobuf(contentType: string | undefined): boolean {
  return /^application\/x-protobuf\s*(?:;|$)/i.test(contentType ?? '')
}

export function otlpBody(
  contentType: string | undefined,
  answer: JsonObject,
  schema: Schema,
): { readonly type: string; readonly bytes: Buffer } {
  return isProtobuf(contentType)
    ? { type: 'application/x-protobuf', bytes: encodeProtobuf(answer, schema) }
    : { type: 'application/json', bytes: Buffer.from(toJson(answer)) }
}

export function statusBody(
  contentType: string | undefined,
  status: number,
  message: string,
): ReturnType<typeof otlpBody> {
  return otlpBody(contentType, { code: CODES.get(status) ?? UNKNOWN, message }, STATUS)
}

const UNKNOWN = 2
const CODES: ReadonlyMap<number, number> = new Map([
  [400, 3],
  [401, 16],
  [403, 7],
  [404, 12],
  [405, 12],
  [411, 3],
  [413, 8],
  [415, 3],
  [503, 14],
])
