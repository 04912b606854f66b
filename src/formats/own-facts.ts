/**
 * What an interchange format has no field for, carried along where it lets anybody put something: the difference between an entry and what a
 * reader would make of what was written for it. Whoever else reads the file passes it over; reading it here gives the entry again.
 */
import { asBlock, hasBlob } from '../transcript/block.ts'
import { ROLES, type Entry } from '../transcript/entry.ts'
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
import { RELATIONS, STATUSES, type Session } from '../transcript/session.ts'
import { validUsage } from '../transcript/usage.ts'
import type { WriteContext } from './format.ts'
import { keptFields, putBack } from './kept-fields.ts'
import type { Said } from './placing.ts'
import type { Facts } from './telling.ts'

/** The name that our facts stand under in the free part of somebody else's format. */
export const OWN = 'hansard'

/** Undefined when the reader says all of it. `read` is what it makes of the written part; undefined where there is none. */
export function factsOf(entry: Entry, read: Said | undefined): JsonObject | undefined {
  const own = toPlain(entry)
  const ours = read === undefined ? undefined : plain(read)
  const kept = ours === undefined ? undefined : keptFields(own, ours)
  if (kept === undefined) return { whole: own }
  return Object.keys(kept).length === 0 ? undefined : { ...kept }
}

/** The entry that was written: what was read, with what differs put back. */
export function withFacts(read: Said | undefined, facts: Json | undefined): Said | undefined {
  if (!isObject(facts)) return read
  const whole = asObject(facts['whole'])
  const put = whole ?? (read === undefined ? undefined : putBack(plain(read), facts))
  return put === undefined ? read : fromPlain(put)
}

/** What only its place in the file says, or where it was read, is no fact of it. */
function toPlain({ id, source, sequence, origin: _origin, ...entry }: Entry): JsonObject {
  const isNumbered = id === `${source}/${sequence}`
  return plain({ ...(isNumbered ? {} : { id }), ...entry })
}

/** Values as JSON has them: nothing is undefined. */
const plain = (value: unknown): JsonObject => asObject(parseJson(toJson(value))) ?? {}

/** Anybody may have written it: what is no entry's is left out. */
function fromPlain(value: JsonObject): Said {
  const text = (key: string): string | undefined => asString(value[key])
  const [id, at, model, stopReason] = [text('id'), text('at'), text('model'), text('stopReason')]
  const role = ROLES.find((one) => one === value['role'])
  const durationMs = asNumber(value['durationMs'])
  const usage = validUsage(value['usage'])
  const call = asObject(value['call'])
  const metadata = asObject(value['metadata'])
  const { parent } = value
  return {
    ...(id !== undefined && { id }),
    ...((typeof parent === 'string' || parent === null) && { parent }),
    kind: value['kind'] === 'event' ? 'event' : 'message',
    ...(role !== undefined && { role }),
    ...(at !== undefined && { at }),
    blocks: (asArray(value['blocks']) ?? []).map((block) => asBlock(block)),
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    ...(stopReason !== undefined && { stopReason }),
    ...(durationMs !== undefined && { durationMs }),
    ...(call !== undefined && { call: callOf(call) }),
    ...(metadata !== undefined && { metadata }),
  }
}

function callOf(call: JsonObject): NonNullable<Said['call']> {
  const [provider, requestId, messageId] = ['provider', 'requestId', 'messageId'].map((key) =>
    asString(call[key]),
  )
  return {
    ...(provider !== undefined && { provider }),
    ...(requestId !== undefined && { requestId }),
    ...(messageId !== undefined && { messageId }),
  }
}

/** The session as it was, but for the id that it has in one archive, and what is summed from its entries. */
export function sessionFacts({ id: _id, totals: _totals, ...session }: Session): JsonObject {
  return plain(session)
}

/** What of it is a session's: anybody may have written it. */
export function sessionOf(value: Json | undefined): Facts {
  const given = asObject(value) ?? {}
  const native = asObject(given['native'])
  const [agent, sessionId] = [asString(native?.['agent']), asString(native?.['sessionId'])]
  const status = STATUSES.find((one) => one === given['status'])
  const usage = validUsage(given['reportedUsage'])
  const above = asObject(given['parent'])
  const parent = asString(above?.['session'])
  const citation = asString(above?.['citation'])
  const relation = RELATIONS.find((one) => one === above?.['relation'])
  const recordings = asArray(given['recordings'])?.filter(
    (one) => isObject(one) && typeof one['by'] === 'string',
  )
  return {
    ...textsOf(given, TEXTS),
    ...Object.fromEntries(MAPS.flatMap((key) => (isObject(given[key]) ? [[key, textsOf(given[key])]] : []))),
    ...(isObject(given['input']) && { input: given['input'] }),
    ...(isObject(given['metadata']) && { metadata: given['metadata'] }),
    ...(recordings !== undefined && {
      recordings: recordings as unknown as NonNullable<Facts['recordings']>,
    }),
    ...(typeof given['stub'] === 'boolean' && { stub: given['stub'] }),
    ...(status !== undefined && { status }),
    ...(usage !== undefined && { reportedUsage: usage }),
    ...(parent !== undefined && {
      parent: {
        session: parent,
        ...(citation !== undefined && { citation }),
        ...(relation !== undefined && { relation }),
      },
    }),
    ...(agent !== undefined && sessionId !== undefined && { native: { agent, sessionId } }),
  }
}

const TEXTS = [
  'title',
  'agent',
  'model',
  'thread',
  'chat',
  'mode',
  'cwd',
  'version',
  'startedAt',
  'endedAt',
  'error',
  'stopReason',
  'reportedCost',
]
const MAPS = ['names', 'run', 'git', 'tags'] as const

const textsOf = (
  value: JsonObject,
  keys: readonly string[] = Object.keys(value),
): { readonly [key: string]: string } =>
  Object.fromEntries(keys.flatMap((key) => (typeof value[key] === 'string' ? [[key, value[key]]] : [])))

/** Blobs are files of an archive: who gets the file does not get them. */
export function loseBlobs(entry: Entry, context: WriteContext): void {
  if (entry.apart !== undefined || entry.blocks.some(hasBlob)) context.lost(entry, 'content kept in a blob')
}
