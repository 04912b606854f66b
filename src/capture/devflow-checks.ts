/** Checks what callers of the runs store say: a wrong word is refused before anything is recorded. */
import { HansardError, messageOf } from '../errors.ts'
import { parseInstant } from '../transcript/instant.ts'
import { isObject } from '../transcript/json.ts'
import type { RunToolCall, RunTurn } from './devflow-turns.ts'

export type EndStatus = 'completed' | 'failed' | 'canceled'

const TURN_ROLES: readonly string[] = ['system', 'user', 'assistant', 'tool_result']
const END_STATUSES: readonly string[] = ['completed', 'failed', 'canceled']

/** Throws `invalid-argument`. */
export function checkTurn(turn: RunTurn): void {
  if (!isObject(turn)) refuse(`a turn is no object: ${shown(turn)}`, 'give its role and content')
  const { role, content, timestamp, tokensIn, tokensOut, durationMs, toolCalls = [] } = turn
  if (!TURN_ROLES.includes(role))
    refuse(`no such role: ${shown(role)}`, `use one of ${TURN_ROLES.join(', ')}`)
  if (typeof content !== 'string') refuse('the content of a turn is no text', 'give a string')
  if (timestamp !== undefined && parseInstant(timestamp) === undefined)
    refuse(`the timestamp of a turn is no instant: ${shown(timestamp)}`, 'use RFC 3339')
  for (const [name, count] of Object.entries({ tokensIn, tokensOut }))
    if (count !== undefined && !(Number.isSafeInteger(count) && count >= 0))
      refuse(`${name} of a turn is no count: ${shown(count)}`, 'give a whole number from 0 on')
  if (durationMs !== undefined && !(Number.isFinite(durationMs) && durationMs >= 0))
    refuse(`durationMs of a turn is no duration: ${shown(durationMs)}`, 'give milliseconds')
  if (!Array.isArray(toolCalls)) refuse('the tool calls of a turn are no list', 'give an array')
  for (const call of toolCalls) checkToolCall(call)
}

/** Throws `invalid-argument`. */
export function checkToolCall(call: RunToolCall): void {
  if (!isObject(call)) refuse(`a tool call is no object: ${shown(call)}`, 'give its name and input')
  const { name, input, ...texts } = call
  if (typeof name !== 'string' || name === '') refuse('a tool call has no name', 'name its tool')
  if (input !== undefined && !isObject(input))
    refuse(`the input of ${shown(name)} is no object`, 'give the parameters by their names')
  for (const key of ['id', 'output', 'error'] as const)
    if (texts[key] !== undefined && typeof texts[key] !== 'string')
      refuse(`the ${key} of ${shown(name)} is no text`, 'give a string')
}

/** Throws `invalid-argument`. */
export function checkEndStatus(status: EndStatus): void {
  if (!END_STATUSES.includes(status))
    refuse(`a run cannot end as ${shown(status)}`, `use one of ${END_STATUSES.join(', ')}`)
}

function refuse(message: string, hint: string): never {
  throw new HansardError('invalid-argument', message, { hint })
}

/** Callers without types give anything. */
function shown(value: unknown): string {
  return (typeof value === 'string' ? JSON.stringify(value) : messageOf(value)).slice(0, 60)
}
