/**
 * One order for what was sent and what was shown. Each thing shown names the last message that was sent before it; where it does not
 * (Roo), both have times; where neither has (old versions), a request stands before what it sent and was answered. Both lists are read
 * as they come: nothing is held but what a request waits for.
 */
import { asNumber, asObject, asString, isObject, type JsonObject } from '../transcript/json.ts'
import { isLongRecord } from '../transcript/long-records.ts'
import { toldModel } from './cline-history.ts'
import { isRequest } from './cline-ui.ts'
import type { ListElement } from './list-salvage.ts'

export type Merged = {
  readonly from: 'history' | 'ui'
  /** In its own list, from 0. */
  readonly index: number
  readonly element: ListElement
  /** Names the call of a request, and of the message that answers it. */
  readonly messageId?: string
  /** The model that was asked, as the history tells it. */
  readonly model?: string
}

/** What the order goes by: told by all of both lists. */
export type MergeFacts = {
  /** Something shown says what was sent before it. */
  readonly isIndexed: boolean
  /** Something sent has a time. */
  readonly isTimed: boolean
  /** Tells calls of one task from those of another. */
  readonly task: string | undefined
}

export type Elements = AsyncIterable<readonly ListElement[]>

export async function* mergeLists(
  history: Elements,
  ui: Elements,
  facts: MergeFacts,
): AsyncGenerator<readonly Merged[]> {
  const calls = createCalls(facts.task)
  const sent = await openQueue(history)
  try {
    for await (const place of inOrder(sent, ui, facts)) {
      calls.add(place)
      if (!calls.isReady) continue
      const taken = calls.take()
      yield taken
      // Frames on the way still have those that were long while the next is read.
      for (const { element } of taken) if (isLongRecord(element)) letGo(element)
    }
  } finally {
    // Whoever asks for no more, or cannot have it, would leave the file open: the queue is ahead of what is asked for.
    await sent.leave()
  }
  yield calls.end()
}

type Place = Pick<Merged, 'from' | 'index' | 'element'>

async function* inOrder(
  sent: Queue,
  ui: Elements,
  { isIndexed, isTimed }: MergeFacts,
): AsyncGenerator<Place> {
  let index = -1
  for await (const some of ui) {
    for (const element of some) {
      index += 1
      const isAsking = isRequestOf(element)
      if (isIndexed) {
        const last = numberOf(element, 'conversationHistoryIndex') ?? -1
        for (; sent.next !== undefined && sent.index <= last; await sent.pass()) yield sent.place()
      } else if (isTimed) {
        const shownAt = numberOf(element, 'ts') ?? Number.NEGATIVE_INFINITY
        for (; sent.next !== undefined && timeOf(sent.next) < shownAt; await sent.pass()) yield sent.place()
      }
      yield { from: 'ui', index, element }
      if (isIndexed || isTimed || !isAsking) continue
      for (let isAnswered = false; sent.next !== undefined && !isAnswered; await sent.pass()) {
        isAnswered = roleOf(sent.next) === 'assistant'
        yield sent.place()
      }
    }
  }
  for (; sent.next !== undefined; await sent.pass()) yield sent.place()
}

function letGo(element: { value: ListElement['value'] }): void {
  element.value = undefined
}

function isRequestOf({ value }: ListElement): boolean {
  return isObject(value) && isRequest(value)
}

function numberOf({ value }: ListElement, key: string): number | undefined {
  return isObject(value) ? asNumber(value[key]) : undefined
}

type Queue = Awaited<ReturnType<typeof openQueue>>

/** The history, one message ahead. */
async function openQueue(history: Elements) {
  const batches = history[Symbol.asyncIterator]()
  let batch: readonly ListElement[] = []
  let at = -1
  let index = -1
  const queue = {
    get next(): ListElement | undefined {
      return batch[at]
    },
    get index(): number {
      return index
    },
    place: (): Place => ({ from: 'history', index, element: batch[at] as ListElement }),
    async pass(): Promise<void> {
      at += 1
      index += 1
      while (at >= batch.length) {
        const { value, done } = await batches.next()
        if (done === true) return
        batch = value
        at = 0
      }
    },
    async leave(): Promise<void> {
      await batches.return?.()
    },
  }
  await queue.pass()
  return queue
}

/** A request that waits for longer is told without what answered it: a hostile list must not be held. */
const MOST_WAITING = 1000
const MOST_WAITING_BYTES = 8 * 1024 * 1024
const BATCH = 256

/** A request is answered by the next message of the model, unless another request comes first: then it was not answered. */
function createCalls(task: string | undefined) {
  let merged: Merged[] = []
  let bytes = 0
  let asked: number | undefined
  let model: string | undefined
  const take = (): readonly Merged[] => {
    const taken = merged
    merged = []
    bytes = 0
    asked = undefined
    return taken
  }
  return {
    get isReady(): boolean {
      if (merged.length >= MOST_WAITING || bytes >= MOST_WAITING_BYTES) return true
      return asked === undefined && merged.length >= BATCH
    },
    take,
    end: take,
    add(place: Place): void {
      bytes += place.element.byteLength
      const value = asObject(place.element.value)
      if (place.from === 'ui') {
        const isAsking = value !== undefined && isRequest(value)
        if (isAsking) asked = merged.length
        const messageId = isAsking ? callId(value, task) : undefined
        merged.push({
          ...place,
          ...(messageId !== undefined && { messageId }),
          ...(model !== undefined && { model }),
        })
        return
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
    },
  }
}

/** A request has no id; its task and its millisecond are the same in every copy. */
function callId(request: JsonObject, task: string | undefined): string | undefined {
  const ts = asNumber(request['ts'])
  return ts === undefined || task === undefined ? undefined : `cline:${task}/${ts}`
}

/** Without a time of its own a message follows the one before it. */
function timeOf({ value }: ListElement): number {
  return asNumber(asObject(value)?.['ts']) ?? Number.NEGATIVE_INFINITY
}

function roleOf({ value }: ListElement): string | undefined {
  return isObject(value) ? asString(value['role']) : undefined
}
