/** Tool calls of a Copilot CLI log: asked for in a message, started, and answered, each on a line of its own. */
import type { Block, ToolCallBlock } from '../transcript/block.ts'
import {
  asNumber,
  asObject,
  asString,
  isObject,
  parseJson,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Call } from '../transcript/entry.ts'
import { always, isNamed, isRecord, isText, leftOver, takes } from './left-over.ts'
import { asId, type Said } from './placing.ts'

/** What was known when the line came. */
export type Known = {
  /** A shutdown accounts for this message. */
  readonly isCovered: boolean
  /** True for a call that a message or a record counts. */
  readonly isCounted: (call: Call) => boolean
  /** True for a call that has a record of its own. */
  readonly isRecorded: (call: Call) => boolean
  /** The model in use, for messages that do not name theirs. */
  readonly model: string | undefined
  /** The tool and its duration, for a result. */
  readonly call: { readonly name: string | undefined; readonly durationMs: number | undefined } | undefined
  /** Calls that an entry before this one holds already. */
  readonly isSaid: (callId: string) => boolean
}

/** `metadata` is what is left of the line's data. */
export type FromData = (data: JsonObject, known: Known) => Omit<Said, 'id' | 'parent' | 'at'> | undefined

export function toCall(request: Json): Block {
  const name = isObject(request) ? asString(request['name']) : undefined
  if (!isObject(request) || name === undefined) return { type: 'unknown', raw: request }
  return callBlock(name, request)
}

/** Some models' arguments are kept as the text that they wrote. */
function callBlock(name: string, { toolCallId, arguments: given }: JsonObject): ToolCallBlock {
  const callId = asId(toolCallId)
  const input = typeof given === 'string' ? (parseJson(given) ?? given) : given
  return {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name,
    ...(input !== undefined && { input }),
  }
}

/** What of a request the call has. */
export const REQUEST = takes({ toolCallId: isNamed, name: isText, arguments: always })

/** The call again, as it begins to run; where no message asked for it, this is where it is said. */
export function fromStart(data: JsonObject, { isSaid }: Known): ReturnType<FromData> {
  const name = asString(data['toolName'])
  const model = asString(data['model'])
  const callId = asId(data['toolCallId'])
  const isFirst = name !== undefined && callId !== undefined && !isSaid(callId)
  return {
    kind: 'event',
    blocks: isFirst ? [callBlock(name, data)] : [],
    ...(model !== undefined && { model }),
    ...toMetadata(leftOver(data, isFirst ? STARTED : MODEL)),
  }
}

const MODEL = takes({ model: isText })
const STARTED = takes({ toolCallId: isNamed, toolName: isText, arguments: always, model: isText })

export function fromComplete(data: JsonObject, { call }: Known): ReturnType<FromData> {
  const callId = asId(data['toolCallId'])
  const result = asObject(data['result'])
  const failed = asObject(data['error'])
  const output = asString(result?.['content'])
  const error = asString(failed?.['message']) ?? asString(data['error'])
  const model = asString(data['model'])
  const more = result && leftOver(result, CONTENT)
  const code = failed && leftOver(failed, FAILURE)
  const exit = asNumber(asObject(data['shellExecution'])?.['exitCode'])
  const isError = data['success'] === false || (exit !== undefined && exit !== 0)
  return {
    kind: 'message',
    role: 'tool',
    blocks: [
      {
        type: 'tool-result',
        ...(callId !== undefined && { callId }),
        ...(call?.name !== undefined && { name: call.name }),
        ...(output !== undefined && { output }),
        ...(error !== undefined && { error }),
        ...(isError && { isError }),
      },
    ],
    ...(model !== undefined && { model }),
    ...(call?.durationMs !== undefined && { durationMs: call.durationMs }),
    metadata: {
      ...leftOver(data, COMPLETED),
      // Diffs of edits stand in `detailedContent`.
      ...(more !== undefined && { result: more }),
      ...(code !== undefined && { error: code }),
    },
  }
}

const CONTENT = takes({ content: isText })
const FAILURE = takes({ message: isText })
const COMPLETED = takes({
  toolCallId: isNamed,
  model: isText,
  result: isRecord,
  error: (error) => isText(error) || isRecord(error),
})

/** What the data says beyond the keys that the entry has. */
export function left(data: JsonObject, ...known: readonly string[]): { readonly metadata?: JsonObject } {
  return toMetadata(rest(data, new Set(known)))
}

function toMetadata(metadata: JsonObject | undefined): { readonly metadata?: JsonObject } {
  return metadata === undefined ? {} : { metadata }
}
