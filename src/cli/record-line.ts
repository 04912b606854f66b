/**
 * One line of `hansard record`'s standard input, taken to the recorder. A line that cannot be taken is answered with what is
 * wrong with it, and changes nothing. What a line says beyond what is known here is kept as the entry's metadata.
 */
import type { Ending, Recorder } from '../capture/record.ts'
import type { Details, SourceRecorder, ToolResult } from '../capture/recorder.ts'
import { PRIMARY, ROLES, type Role } from '../transcript/entry.ts'
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
import { toBlock } from './record-block.ts'
import { toDetails } from './record-details.ts'

/** How a session is to end, once a line says so. */
export type Ended = { readonly status: 'completed' | 'failed' | 'canceled'; readonly error?: string } & Ending

/** What is wrong with the line, or its wish to end the session, or undefined when it was recorded. */
export type Taken = { readonly problem: string } | { readonly ended: Ended } | undefined

export function takeLine(session: Recorder, value: Json | undefined): Taken {
  if (!isObject(value)) return { problem: value === undefined ? 'not JSON' : 'not a JSON object' }
  const source = asString(value['source']) ?? PRIMARY
  const recorder = recorderFor(session, source)
  if (recorder === undefined) return { problem: `a source is primary or subagent:<id>, not ${source}` }
  const details = toDetails(value)
  if ('problem' in details) return details
  const type = asString(value['type']) ?? 'message'
  switch (type) {
    case 'message':
      return takeMessage(recorder, value, details)
    case 'tool-call':
      return takeCall(recorder, value, details)
    case 'tool-result':
      return takeResult(recorder, value, details)
    case 'error':
      return takeError(recorder, value, details)
    case 'event':
      recorder.event(asString(value['record']) ?? 'event', value['raw'] ?? null, details)
      return undefined
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

function takeMessage(recorder: SourceRecorder, value: JsonObject, details: Details): Taken {
  const role = ROLES.find((role) => role === value['role'])
  if (role === undefined) return { problem: `a message has a role: ${ROLES.join(', ')}` }
  const blocks = asArray(value['blocks'])?.map(toBlock)
  const said = blocks ?? asString(value['text'])
  if (said === undefined) return { problem: 'a message has a text, or a list of blocks' }
  if (role === 'tool') return takeToolMessage(recorder, value, said, details)
  recorder[role satisfies Role](said, details)
  return undefined
}

/** A message of role `tool` is a result, spelled as a message. */
function takeToolMessage(
  recorder: SourceRecorder,
  value: JsonObject,
  said: NonNullable<ToolResult['output']>,
  details: Details,
): Taken {
  const results = typeof said === 'string' ? [] : said.filter((block) => block.type === 'tool-result')
  if (results.length === 0) return takeResult(recorder, value, details, said)
  for (const { type: _, ...result } of results) recorder.toolResult({ ...toResult(result), ...details })
  return undefined
}

function takeCall(recorder: SourceRecorder, value: JsonObject, details: Details): Taken {
  const name = asString(value['name'])
  if (name === undefined || name === '') return { problem: 'a tool-call has the name of its tool' }
  const { input } = value
  const callId = asString(value['callId'])
  recorder.toolCall({
    ...details,
    name,
    ...(input !== undefined && { input }),
    ...(callId !== undefined && { callId }),
  })
  return undefined
}

function takeResult(
  recorder: SourceRecorder,
  value: JsonObject,
  details: Details,
  said?: ToolResult['output'],
): Taken {
  const output = said ?? asString(value['output']) ?? asArray(value['output'])?.map(toBlock)
  recorder.toolResult({ ...details, ...toResult({ ...value, ...(output !== undefined && { output }) }) })
  return undefined
}

function toResult(value: { readonly [key: string]: unknown }): ToolResult {
  const callId = asString(value['callId'])
  const name = asString(value['name'])
  const error = asString(value['error'])
  const isError = asBoolean(value['isError'])
  const output = value['output'] as ToolResult['output']
  return {
    ...(callId !== undefined && { callId }),
    ...(name !== undefined && { name }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...(isError !== undefined && { isError }),
  }
}

function takeError(recorder: SourceRecorder, value: JsonObject, details: Details): Taken {
  const message = asString(value['message']) ?? asString(value['text'])
  if (message === undefined) return { problem: 'an error has a message' }
  const code = asString(value['code'])
  recorder.error(code === undefined ? message : Object.assign(new Error(message), { code }), details)
  return undefined
}

function takeCost(session: Recorder, value: JsonObject): Taken {
  const usd = asString(value['usd']) ?? asNumber(value['usd'])
  if (usd === undefined || !/^\d+(\.\d+)?$/.test(String(usd)))
    return { problem: 'a cost has usd, a decimal: "0.12"' }
  session.addCost(usd)
  return undefined
}

function takeUpdate(session: Recorder, value: JsonObject): Taken {
  const title = asString(value['title'])
  const model = asString(value['model'])
  session.update({ ...(title !== undefined && { title }), ...(model !== undefined && { model }) })
  return undefined
}

function toEnded(value: JsonObject): Taken {
  const status = asString(value['status']) ?? 'completed'
  if (status !== 'completed' && status !== 'failed' && status !== 'canceled') {
    return { problem: 'a session ends completed, failed or canceled' }
  }
  const error = asString(value['error'])
  const stopReason = asString(value['stopReason'])
  const at = parseInstant(value['at'])
  return {
    ended: {
      status,
      ...(error !== undefined && { error }),
      ...(stopReason !== undefined && { stopReason }),
      ...(at !== undefined && { at }),
    },
  }
}
