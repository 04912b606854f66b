/**
 * One line of `hansard record`'s standard input, taken to the recorder. A line that cannot be taken is answered with what is
 * wrong with it, and changes nothing. What a line says beyond what is known here is kept as the entry's metadata.
 */
import type { Recorder } from '../capture/record.ts'
import type { Ending } from '../capture/session-facts.ts'
import type { Details, SourceRecorder, ToolResult } from '../capture/recorder.ts'
import { isBlobRef, type Block, type ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, ROLES } from '../transcript/entry.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asBoolean,
  asNumber,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { strings, toBlocks, toOutput } from './record-block.ts'
import { toDetails } from './record-details.ts'

/** How a session is to end, once a line says so. */
export type Ended = { readonly status: 'completed' | 'failed' | 'canceled'; readonly error?: string } & Ending

/** What is wrong with the line, or its wish to end the session, or undefined when it was recorded. */
export type Taken = { readonly problem: string } | { readonly ended: Ended } | undefined

export function takeLine(session: Recorder, value: Json | undefined): Taken {
  if (!isObject(value)) return { problem: value === undefined ? 'not JSON' : 'not a JSON object' }
  const source = value['source'] ?? PRIMARY
  const recorder = typeof source === 'string' ? recorderFor(session, source) : undefined
  if (recorder === undefined) return { problem: 'a source is primary or subagent:<id>' }
  const type = asString(value['type']) ?? 'message'
  switch (type) {
    case 'message':
      return takeMessage(recorder, value)
    case 'tool-call':
      return takeCall(recorder, value)
    case 'tool-result':
      return takeResult(recorder, value, toOutput(value['output']), ['output'])
    case 'error':
      return takeError(recorder, value)
    case 'event':
      return withDetails(value, ['record', 'raw'], (details) =>
        recorder.event(asString(value['record']) ?? 'event', value['raw'] ?? null, details),
      )
    case 'cost':
      return takeCost(session, value)
    case 'update':
      return takeUpdate(session, value)
    case 'end':
      return toEnded(value)
    default:
      return { problem: `there is no type ${JSON.stringify(type.slice(0, 40))}` }
  }
}

function recorderFor(session: Recorder, source: string): SourceRecorder | undefined {
  if (source === PRIMARY) return session
  const id = /^subagent:(.+)$/s.exec(source)?.[1]
  return id === undefined ? undefined : session.subagent(id)
}

/** Records, with what the line says beside its content; nothing, when that is wrong. */
function withDetails(
  value: JsonObject,
  content: readonly string[],
  record: (details: Details) => unknown,
): Taken {
  const details = toDetails(value, content)
  if ('problem' in details) return details
  record(details)
  return undefined
}

function takeMessage(recorder: SourceRecorder, value: JsonObject): Taken {
  const role = ROLES.find((role) => role === value['role'])
  if (role === undefined) return { problem: `a message has a role: ${ROLES.join(', ')}` }
  const list = asArray(value['blocks'])
  const text = asString(value['text'])
  if (list === undefined && text === undefined)
    return { problem: 'a message has a text, or a list of blocks' }
  const { blocks, strange } = list === undefined ? { blocks: undefined } : toBlocks(list)
  const said = blocks ?? (text as string)
  const line: JsonObject = strange === undefined ? value : { ...value, blockFields: strange }
  const content = ['role', blocks === undefined ? 'text' : 'blocks']
  if (role === 'tool') return takeToolMessage(recorder, line, said, content)
  return withDetails(line, content, (details) => recorder[role](said, details))
}

/** A message of role `tool` is a result, spelled as a message; or several. */
function takeToolMessage(
  recorder: SourceRecorder,
  line: JsonObject,
  said: string | readonly Block[],
  content: readonly string[],
): Taken {
  const results = typeof said === 'string' ? [] : said.filter((block) => block.type === 'tool-result')
  if (typeof said === 'string' || results.length === 0) return takeResult(recorder, line, said, content)
  const others = said.filter((block) => block.type !== 'tool-result')
  return withDetails(line, content, ({ id, usage, ...details }) => {
    // An id names one entry, and a call's usage is stated once.
    const first = { ...(id !== undefined && { id }), ...(usage && { usage }) }
    for (const [at, result] of results.entries()) {
      recorder.toolResult({ ...toResult(result), ...details, ...(at === 0 && first) })
    }
    if (others.length > 0) recorder.toolResult({ output: others, ...details })
  })
}

function toResult({ callId, name, output, error, isError }: ToolResultBlock): ToolResult {
  return {
    ...(callId !== undefined && { callId }),
    ...(name !== undefined && { name }),
    // A line holds its content; nothing in it is a reference of ours.
    ...(output !== undefined && !isBlobRef(output) && { output }),
    ...(error !== undefined && { error }),
    ...(isError !== undefined && { isError }),
  }
}

function takeCall(recorder: SourceRecorder, value: JsonObject): Taken {
  const name = asString(value['name'])
  if (name === undefined || name === '') return { problem: 'a tool-call has the name of its tool' }
  const { input } = value
  const call = { name, ...strings(value, 'callId'), ...(input !== undefined && { input }) }
  return withDetails(value, Object.keys(call), (details) => recorder.toolCall({ ...details, ...call }))
}

function takeResult(
  recorder: SourceRecorder,
  value: JsonObject,
  output: ToolResult['output'],
  content: readonly string[],
): Taken {
  const isError = asBoolean(value['isError'])
  const result: ToolResult = {
    ...strings(value, 'callId', 'name', 'error'),
    ...(output !== undefined && { output }),
    ...(isError !== undefined && { isError }),
  }
  return withDetails(value, [...content, ...Object.keys(result)], (details) =>
    recorder.toolResult({ ...details, ...result }),
  )
}

function takeError(recorder: SourceRecorder, value: JsonObject): Taken {
  const from = ['message', 'text'].find((name) => typeof value[name] === 'string')
  if (from === undefined) return { problem: 'an error has a message' }
  const message = value[from] as string
  const { code } = strings(value, 'code')
  return withDetails(value, [from, ...(code === undefined ? [] : ['code'])], (details) =>
    recorder.error(code === undefined ? message : Object.assign(new Error(message), { code }), details),
  )
}

function takeCost(session: Recorder, value: JsonObject): Taken {
  const usd = asString(value['usd']) ?? asNumber(value['usd'])
  const isAmount = typeof usd === 'number' ? usd >= 0 : usd !== undefined && /^\d+(\.\d+)?$/.test(usd)
  if (usd === undefined || !isAmount) return { problem: 'a cost has usd, a decimal: "0.12"' }
  session.addCost(usd)
  return undefined
}

function takeUpdate(session: Recorder, value: JsonObject): Taken {
  const facts = strings(value, 'title', 'model')
  if (Object.keys(facts).length === 0) return { problem: 'an update has a title or a model' }
  session.update(facts)
  return undefined
}

function toEnded(value: JsonObject): Taken {
  const status = asString(value['status']) ?? 'completed'
  if (status !== 'completed' && status !== 'failed' && status !== 'canceled') {
    return { problem: 'a session ends completed, failed or canceled' }
  }
  const at = parseInstant(value['at'])
  if (value['at'] !== undefined && at === undefined) return { problem: '"at" is no ISO 8601 time' }
  return { ended: { status, ...strings(value, 'error', 'stopReason'), ...(at !== undefined && { at }) } }
}
