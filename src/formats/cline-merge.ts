/**
 * One order for what was sent and what was shown. Each thing shown names the last message that was sent before it; where it does not
 * (Roo), both have times; where neither has (old versions), a request stands before what it sent and was answered.
 */
import { asNumber, asObject, asString, isObject, type JsonObject } from '../transcript/json.ts'
import { toldModel } from './cline-history.ts'
import { isRequest } from './cline-ui.ts'
import type { ListElement } from './list-salvage.ts'

export type Merged = {
  readonly from: 'history' | 'ui'
  /** In its own list, from 0. */
  readonly index: number
  /** Names the call of a request, and of the message that answers it. */
  readonly messageId?: string
  /** The model that was asked, as the history tells it. */
  readonly model?: string
}

/** `task` tells calls of one task from those of another. */
export function mergeLists(
  history: readonly ListElement[],
  ui: readonly ListElement[],
  task: string | undefined,
): readonly Merged[] {
  return withCalls(inOrder(history, ui), history, ui, task)
}

type Place = Pick<Merged, 'from' | 'index'>

function inOrder(history: readonly ListElement[], ui: readonly ListElement[]): readonly Place[] {
  const order: Place[] = []
  let sent = 0
  const sendWhile = (goesOn: (next: ListElement, index: number) => boolean): void => {
    for (let next = history[sent]; next !== undefined && goesOn(next, sent); next = history[sent]) {
      order.push({ from: 'history', index: sent })
      sent += 1
    }
  }
  const isIndexed = ui.some(
    ({ value }) => asNumber(asObject(value)?.['conversationHistoryIndex']) !== undefined,
  )
  const isTimed = history.some(({ value }) => asNumber(asObject(value)?.['ts']) !== undefined)
  for (const [index, { value }] of ui.entries()) {
    if (isIndexed) {
      const last = asNumber(asObject(value)?.['conversationHistoryIndex']) ?? -1
      sendWhile((_, next) => next <= last)
    } else if (isTimed) {
      const shownAt = asNumber(asObject(value)?.['ts']) ?? Number.NEGATIVE_INFINITY
      sendWhile((next) => timeOf(next) < shownAt)
    }
    order.push({ from: 'ui', index })
    if (isIndexed || isTimed || !isObject(value) || !isRequest(value)) continue
    let isAnswered = false
    sendWhile((next) => {
      const goesOn = !isAnswered
      isAnswered = roleOf(next) === 'assistant'
      return goesOn
    })
  }
  sendWhile(() => true)
  return order
}

/** A request is answered by the next message of the model, unless another request comes first: then it was not answered. */
function withCalls(
  order: readonly Place[],
  history: readonly ListElement[],
  ui: readonly ListElement[],
  task: string | undefined,
): readonly Merged[] {
  const merged: Merged[] = []
  let asked: number | undefined
  let model: string | undefined
  for (const place of order) {
    const value = asObject((place.from === 'ui' ? ui : history)[place.index]?.value)
    if (place.from === 'ui') {
      const isAsking = value !== undefined && isRequest(value)
      if (isAsking) asked = merged.length
      const messageId = isAsking ? callId(value, task) : undefined
      merged.push({
        ...place,
        ...(messageId !== undefined && { messageId }),
        ...(model !== undefined && { model }),
      })
      continue
    }
    const told = value === undefined ? undefined : toldModel(value)
    if (told !== undefined) model = told
    const request = asked === undefined ? undefined : merged[asked]
    if (request !== undefined && told !== undefined) merged[asked as number] = { ...request, model: told }
    const isAnswer = asString(value?.['role']) === 'assistant'
    const messageId = isAnswer ? request?.messageId : undefined
    if (isAnswer) asked = undefined
    merged.push({
      ...place,
      ...(messageId !== undefined && { messageId }),
      ...(isAnswer && model !== undefined && { model }),
    })
  }
  return merged
}

/** A request has no id; its task and its millisecond are the same in every copy. */
function callId(request: JsonObject, task: string | undefined): string | undefined {
  const ts = asNumber(request['ts'])
  return ts === undefined || task === undefined ? undefined : `cline:${task}/${ts}`
}

/** Without a time of its own a message follows the one before it. */
function timeOf(turn: ListElement | undefined): number {
  return asNumber(asObject(turn?.value)?.['ts']) ?? Number.NEGATIVE_INFINITY
}

function roleOf(turn: ListElement | undefined): string | undefined {
  return asString(asObject(turn?.value)?.['role'])
}
