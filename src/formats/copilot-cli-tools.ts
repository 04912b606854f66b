/** Tool calls of a Copilot CLI log: asked for in a message, started, and answered, each on a line of its own. */
import type { Block, ToolCallBlock } from '../transcript/block.ts'
import {
  asObject,
  asString,
  isObject,
  parseJson,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { asId, type Said } from './placing.ts'

/** What was known when the line came. */
export type Known = {
  /** A shutdown accounts for this message. */
  readonly isCovered: boolean
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
    ...(isFirst ? left(data, 'toolCallId', 'toolName', 'arguments', 'model') : left(data, 'model')),
  }
}

export function fromComplete(data: JsonObject, { call }: Known): ReturnType<FromData> {
  const callId = asId(data['toolCallId'])
  const result = asObject(data['result'])
  const failed = asObject(data['error'])
  const output = asString(result?.['content'])
  const error = asString(failed?.['message']) ?? asString(data['error'])
  const model = asString(data['model'])
  const more = result && rest(result, new Set(output === undefined ? [] : ['content']))
  const code = failed && rest(failed, new Set(['message']))
  const known = [
    'toolCallId',
    'model',
    ...(result ? ['result'] : []),
    ...(error !== undefined ? ['error'] : []),
  ]
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
        ...(data['success'] === false && { isError: true }),
      },
    ],
    ...(model !== undefined && { model }),
    ...(call?.durationMs !== undefined && { durationMs: call.durationMs }),
    metadata: {
      ...rest(data, new Set(known)),
      // Diffs of edits stand in `detailedContent`.
      ...(more !== undefined && { result: more }),
      ...(code !== undefined && { error: code }),
    },
  }
}

/** What the data says beyond the keys that the entry has. */
export function left(data: JsonObject, ...known: readonly string[]): { readonly metadata?: JsonObject } {
  const metadata = rest(data, new Set(known))
  return metadata === undefined ? {} : { metadata }
}
