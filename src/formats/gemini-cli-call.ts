/** One of the tool calls inside of Gemini CLI's messages: what was asked for, and what came of it once anything did. */
import type { Block, ToolCallBlock, ToolResultBlock } from '../transcript/block.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { splitParts } from '../wire/gemini-parts.ts'
import { always, isTime, kept, unread, type Reads } from './gemini-cli-kept.ts'
import { asId, type Said } from './placing.ts'

export type ReadCall = {
  readonly block: Block
  /** Absent while the tool is at work, and for ever when that was never recorded. */
  readonly result?: Said
  /** What a call without a result says beyond the block. */
  readonly open?: JsonObject
}

const CALL: Reads = new Map<string, (value: Json, record: JsonObject) => boolean>([
  ['id', (value) => asId(value) !== undefined],
  ['name', always],
  ['args', always],
  ['result', always],
  // It is the result's time.
  ['timestamp', (value, { result, status }) => isTime(value) && hasEnded(result, status)],
])

type CallPlace = { readonly message: string | undefined; readonly number: number; readonly index: number }

export function readCall(raw: Json, { message, number, index }: CallPlace): ReadCall {
  const name = isObject(raw) ? asString(raw['name']) : undefined
  if (!isObject(raw) || name === undefined) return { block: { type: 'unknown', raw } }
  const callId = asId(raw['id']) ?? `${message ?? `message-${number}`}/${index + 1}`
  const names = { callId, name }
  const args = raw['args']
  const block: ToolCallBlock = { type: 'tool-call', ...names, ...(args !== undefined && { input: args }) }
  const more = unread(raw, CALL)
  const result = toResult(raw, names)
  if (result === undefined) return { block, ...(more !== undefined && { open: more }) }
  const at = parseInstant(raw['timestamp'])
  return {
    block,
    result: {
      ...(message !== undefined && { id: `${message}/result-${index + 1}`, parent: message }),
      kind: 'message',
      role: 'tool',
      ...(at !== undefined && { at }),
      blocks: [result],
      ...kept({ ...more, ...answeredAs(raw['result'], names) }),
    },
  }
}

/** What the answer calls itself, where that is not what the call is called. */
function answeredAs(
  result: Json | undefined,
  names: { readonly callId: string; readonly name: string },
): JsonObject {
  const answer = asObject(asObject(asArray(result)?.[0])?.['functionResponse'])
  const { id, name } = answer ?? {}
  const own = {
    ...(id !== undefined && id !== null && id !== names.callId && { id }),
    ...(name !== undefined && name !== null && name !== names.name && { name }),
  }
  return Object.keys(own).length === 0 ? {} : { functionResponse: own }
}

/** Ends that leave no result: what the person saw is then all there is. */
const ENDS: ReadonlySet<string> = new Set(['success', 'error', 'cancelled'])

function hasEnded(result: Json | undefined, status: Json | undefined): boolean {
  return (result !== undefined && result !== null) || (typeof status === 'string' && ENDS.has(status))
}

function toResult(
  { result, status, resultDisplay }: JsonObject,
  names: { readonly callId: string; readonly name: string },
): ToolResultBlock | undefined {
  const isError = status === 'error' || status === 'cancelled'
  const shown = asString(resultDisplay)
  if (result === undefined || result === null) {
    if (!hasEnded(result, status)) return undefined
    const said = shown === undefined ? {} : isError ? { error: shown } : { output: shown }
    return { type: 'tool-result', ...names, ...said, ...(isError && { isError }) }
  }
  const parts = splitParts(result).map(({ block }) => block)
  const [first, ...others] = parts
  const own = first?.type === 'tool-result' ? first : undefined
  const { output, error } = own ?? {}
  const before: readonly Block[] =
    output === undefined
      ? []
      : typeof output === 'string' || !isList(output)
        ? [{ type: 'text', text: output }]
        : output
  const beside = own === undefined ? parts : others
  const whole = beside.length > 0 ? [...before, ...beside] : output
  return {
    type: 'tool-result',
    ...names,
    ...(whole !== undefined && { output: whole }),
    ...(error !== undefined && { error }),
    ...((isError || own?.isError === true) && { isError: true }),
  }
}

function isList(output: ToolResultBlock['output']): output is readonly Block[] {
  return Array.isArray(output)
}
