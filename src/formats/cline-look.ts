/** Which of the Cline family's files some bytes are, told by their beginning. */
import { counted } from '../transcript/counted.ts'
import { asArray, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Detection } from './format.ts'
import { firstValue, type Head } from './head-records.ts'

/**
 * `history` is what was sent to the model, `ui` what was shown, `task` and `item` what is said about a task; `messages` and `session`
 * are the two files of Cline's CLI.
 */
export type Kind = 'history' | 'ui' | 'task' | 'item' | 'messages' | 'session'

export type Looks = Detection & { readonly kind: Kind }

/** Elements of a list looked at. */
const FIRST = 20

export function lookAtCline(head: Head): Looks | undefined {
  const value = firstValue(head)
  if (Array.isArray(value)) return lookAtList(firstOf(value), head.text)
  return isObject(value) ? lookAtObject(value) : undefined
}

function lookAtList(elements: readonly JsonObject[], text: string): Looks | undefined {
  const shown = elements.filter(isShown).length
  if (shown * 2 > elements.length) {
    return { kind: 'ui', confidence: 0.95, reason: `${counted(shown, 'message')} of asking or saying` }
  }
  const sent = elements.filter(isSent).length
  if (sent * 2 <= elements.length) return undefined
  if (text.includes('<environment_details>'))
    return { kind: 'history', confidence: 0.9, reason: 'messages with details of the editor' }
  const isTask = /"(<task>\\n|\[[a-z_]{2,40}( [^"\n]{0,200})?\] Result:)/.test(text)
  if (isTask) return { kind: 'history', confidence: 0.75, reason: 'messages with a task in tags' }
  if (elements.some((message) => isObject(message['modelInfo']) && 'metrics' in message))
    return { kind: 'history', confidence: 0.75, reason: 'messages with their model and metrics' }
  return undefined
}

function lookAtObject(members: JsonObject): Looks | undefined {
  const { version, updated_at, agent, sessionId, session_id } = members
  if ('messages' in members) {
    const messages = firstOf(members['messages'])
    const isHeaded =
      typeof version === 'number' && typeof updated_at === 'string' && typeof agent === 'string'
    if (!isHeaded || !messages.every(isSent)) return undefined
    return { kind: 'messages', confidence: 0.9, reason: "an agent's messages with version and time" }
  }
  if (Array.isArray(members['files_in_context']) || isUsageList(members['model_usage']))
    return { kind: 'task', confidence: 0.8, reason: 'files in context and models used' }
  if (typeof members['task'] === 'string' && 'tokensIn' in members && 'totalCost' in members)
    return { kind: 'item', confidence: 0.8, reason: 'a task with its tokens and cost' }
  const isNamed = typeof session_id === 'string' || typeof sessionId === 'string'
  const hasMessages = 'messages_path' in members || 'messagesPath' in members
  const isTold = ['source', 'status', 'provider', 'model', 'started_at'].every(
    (key) => typeof members[key] === 'string',
  )
  if (isNamed && (hasMessages || isTold))
    return { kind: 'session', confidence: 0.8, reason: 'a session with its source, provider and model' }
  return undefined
}

function firstOf(list: Json | undefined): readonly JsonObject[] {
  return (asArray(list) ?? []).slice(0, FIRST).filter(isObject)
}

/** A value that the head ends in is known by its key only. */
function isShown({ ts, type, say, ask }: JsonObject): boolean {
  if (typeof ts !== 'number') return false
  return (type === 'say' && say !== undefined) || (type === 'ask' && ask !== undefined)
}

function isSent(message: JsonObject): boolean {
  const { role } = message
  return (role === 'user' || role === 'assistant' || role === null) && 'content' in message
}

function isUsageList(value: unknown): boolean {
  return asArray(value)?.every((one) => isObject(one) && 'model_provider_id' in one) === true
}
