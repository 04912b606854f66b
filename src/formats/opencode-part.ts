/** One of OpenCode's parts as entries: a tool's part is its call and, once there is one, its result. */
import type { Block, ImageBlock, ToolResultBlock } from '../transcript/block.ts'
import type { Role } from '../transcript/entry.ts'
import { fromMillis } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { always, isList, isNamed, isText, leftOver, takes, type Takes } from './left-over.ts'
import { asId, type Said } from './placing.ts'

export type PartContext = {
  /** Undefined where the part's message is not there. */
  readonly role: Role | undefined
  /** The message's id and time, for what the part does not say. */
  readonly message: string | undefined
  readonly at: string | undefined
  /** The session's and the message's id by the keys that repeat them. */
  readonly around: ReadonlyMap<string, Json | undefined>
  /** The call's own id where it is the first to have it, else one that names only this part. */
  callId(part: JsonObject): string
}

export function fromPart(part: Json, context: PartContext): readonly Said[] {
  if (!isObject(part)) return [toEvent(part, 'unknown', {})]
  const type = asString(part['type']) ?? 'unknown'
  if (type === 'text' || type === 'reasoning') return [fromText(part, type, context)]
  if (type === 'tool') return fromTool(part, context)
  if (type === 'file') return [fromFile(part, context)]
  return [toEvent(part, type, placeOf(part, context))]
}

/** Of `{ created, completed }`, `{ start, end }`: OpenCode's milliseconds as an instant. */
export function instantOf(time: Json | undefined, key: string): string | undefined {
  const millis = asNumber(asObject(time)?.[key])
  return millis === undefined ? undefined : fromMillis(millis)
}

export function durationOf(time: Json | undefined, from: string, to: string): number | undefined {
  const start = asNumber(asObject(time)?.[from])
  const end = asNumber(asObject(time)?.[to])
  return start === undefined || end === undefined || end < start ? undefined : end - start
}

/** The session that a task was given to. */
export function childOf(part: Json): string | undefined {
  const state = isObject(part) && part['type'] === 'tool' ? asObject(part['state']) : undefined
  const metadata = asObject(state?.['metadata'])
  return asId(metadata?.['sessionId']) ?? asId(metadata?.['sessionID'])
}

const TEXT = takes({ id: isNamed, type: always, text: always })
const TOOL = takes({ id: isNamed, type: always, callID: always, tool: always, state: always })
/** Of a call that was answered, and of one that was not. */
const STATE = takes({ input: always, output: always, error: isText, attachments: isList })
const OPEN_STATE = takes({ input: always })

function placeOf(
  part: JsonObject,
  { message, at: messageAt }: PartContext,
): Pick<Said, 'id' | 'parent' | 'at'> {
  // Set one by one: for every part of a session, spreading what may be absent takes several times as long.
  const place: { id?: string; parent?: string; at?: string } = {}
  const id = asId(part['id'])
  if (id !== undefined) place.id = id
  if (message !== undefined) place.parent = message
  const at = instantOf(part['time'], 'start') ?? messageAt
  if (at !== undefined) place.at = at
  return place
}

function fromText(part: JsonObject, type: 'text' | 'reasoning', context: PartContext): Said {
  const text = asString(part['text'])
  if (text === undefined) return toEvent(part, type, placeOf(part, context))
  const isThinking = type === 'reasoning'
  const metadata = leftOver(part, TEXT, context.around)
  const durationMs = durationOf(part['time'], 'start', 'end')
  return {
    ...placeOf(part, context),
    kind: 'message',
    ...(context.role !== undefined && { role: context.role }),
    blocks: [isThinking ? { type: 'thinking', text } : { type: 'text', text }],
    ...(isThinking && durationMs !== undefined && { durationMs }),
    ...(metadata !== undefined && { metadata }),
  }
}

function fromTool(part: JsonObject, context: PartContext): readonly Said[] {
  const name = asString(part['tool'])
  const state = asObject(part['state'])
  const place = placeOf(part, context)
  if (name === undefined || state === undefined) return [toEvent(part, 'tool', place)]
  const callId = context.callId(part)
  const { input, time } = state
  const startAt = instantOf(time, 'start') ?? place.at
  const result = toResult(state, { callId, name })
  const more = leftOver(state, result === undefined ? OPEN_STATE : STATE)
  const files = attachmentsOf(state, context)
  const own = leftOver(part, TOOL, context.around)
  const isRenamed = part['callID'] !== undefined && part['callID'] !== callId
  const isOpen = result === undefined && more !== undefined
  const metadata =
    isRenamed || isOpen
      ? { ...own, ...(isRenamed && { callID: part['callID'] as Json }), ...(isOpen && { state: more }) }
      : own
  const call: Said = {
    ...place,
    ...(startAt !== undefined && { at: startAt }),
    kind: 'message',
    role: 'assistant',
    blocks: [{ type: 'tool-call', callId, name, ...(input !== undefined && { input }) }],
    ...(metadata !== undefined && { metadata }),
  }
  if (result === undefined) return [call]
  const endAt = instantOf(time, 'end') ?? startAt
  const durationMs = durationOf(time, 'start', 'end')
  const answer: Said = {
    ...(place.id !== undefined && { id: `${place.id}/result`, parent: place.id }),
    kind: 'message',
    role: 'tool',
    ...(endAt !== undefined && { at: endAt }),
    blocks: [result],
    ...(durationMs !== undefined && { durationMs }),
    ...((more !== undefined || files !== undefined) && {
      metadata: { state: { ...more, ...(files !== undefined && { attachments: files }) } },
    }),
  }
  return [call, answer]
}

/** What files that a tool gave back say besides the picture, each in its place. */
function attachmentsOf({ attachments }: JsonObject, { around }: PartContext): readonly Json[] | undefined {
  const said = (asArray(attachments) ?? []).map((file) =>
    isObject(file) && imageOf(file) !== undefined ? (leftOver(file, FILE, around) ?? null) : null,
  )
  return said.some((one) => one !== null) ? said : undefined
}

function toResult(
  { status, output, error, attachments, metadata }: JsonObject,
  names: { readonly callId: string; readonly name: string },
): ToolResultBlock | undefined {
  const isError = status === 'error'
  if (!isError && status !== 'completed' && output === undefined) return undefined
  const files = (asArray(attachments) ?? []).map(
    (file): Block => imageOf(file) ?? { type: 'unknown', raw: file },
  )
  const text = asString(output)
  const own: readonly Block[] =
    text !== undefined
      ? [{ type: 'text', text }]
      : output === undefined || output === null
        ? []
        : [{ type: 'unknown', raw: output }]
  const whole = text !== undefined && files.length === 0 ? text : [...own, ...files]
  const failure = asString(error)
  return {
    type: 'tool-result',
    ...names,
    ...(whole.length > 0 || text !== undefined ? { output: whole } : {}),
    ...(failure !== undefined && { error: failure }),
    ...((isError || hasExited(metadata)) && { isError: true }),
  }
}

/** A command that ended with another code than 0, which its tool calls completed. */
function hasExited(metadata: Json | undefined): boolean {
  const exit = asNumber(asObject(metadata)?.['exit'])
  return exit !== undefined && exit !== 0
}

/** A picture is said; any other file is an event that names it. */
function fromFile(part: JsonObject, context: PartContext): Said {
  const image = imageOf(part)
  const place = placeOf(part, context)
  if (image === undefined) return toEvent(part, 'file', place)
  const metadata = leftOver(part, FILE_PART, context.around)
  return {
    ...place,
    kind: 'message',
    ...(context.role !== undefined && { role: context.role }),
    blocks: [image],
    ...(metadata !== undefined && { metadata }),
  }
}

const FILE = takes({ type: (type) => type === 'file', mime: always, url: always })
const FILE_PART: Takes = new Map([...FILE, ['id', isNamed]])
const BASE64 = ';base64,'

function imageOf(file: Json): ImageBlock | undefined {
  const mediaType = isObject(file) ? asString(file['mime']) : undefined
  const url = isObject(file) ? asString(file['url']) : undefined
  if (mediaType?.startsWith('image/') !== true || url === undefined) return undefined
  if (!url.startsWith('data:')) return { type: 'image', mediaType, url }
  const at = url.slice(0, 200).indexOf(BASE64)
  return at === -1 ? undefined : { type: 'image', mediaType, data: url.slice(at + BASE64.length) }
}

function toEvent(raw: Json, record: string, place: Pick<Said, 'id' | 'parent' | 'at'>): Said {
  return { ...place, kind: 'event', blocks: [{ type: 'unknown', raw }], metadata: { record } }
}
