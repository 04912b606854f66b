/** What the files of a task say together about it: its title, folder, version, model, cost, and how it ended. */
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
import type { Session, Status } from '../transcript/session.ts'
import { modelOf, toldFolder, toldModel } from './cline-history.ts'
import { isCounted, nameOf, requestOf } from './cline-ui.ts'
import { costOf, toDollars } from './dollars.ts'

export type TaskFacts = Omit<Session, 'id' | 'native' | 'parent'> & {
  /** Roo's task that this one was begun by. */
  readonly parentTask?: string
  /** The task's name, where a file of it says so. */
  readonly task?: string
  /** The millisecond of its first message: what a task is called by whose folder says nothing, the same in every copy. */
  readonly began?: string
}

/** Told every message of both lists, in order, each list by itself; undefined for what is no object. */
export type TaskFold = {
  sent(message: JsonObject | undefined): void
  shown(message: JsonObject | undefined): void
  /** `sidecars`: `task_metadata.json`, `history_item.json`. */
  facts(sidecars: readonly Json[]): TaskFacts
}

export function createTaskFold(): TaskFold {
  let [isShown, title, folder] = [false, undefined as string | undefined, undefined as string | undefined]
  let [shownModel, toldLast] = [undefined as string | undefined, undefined as string | undefined]
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let [shownCost, sentCost] = [undefined as number | undefined, undefined as number | undefined]
  let status: Status = 'completed'
  const time = (message: JsonObject): void => {
    const ts = asNumber(message['ts'])
    if (ts === undefined) return
    first = Math.min(first, ts)
    last = Math.max(last, ts)
  }
  return {
    sent(message) {
      if (message === undefined) return
      time(message)
      folder ??= toldFolder(message)
      toldLast = modelOf(message) ?? toldModel(message) ?? toldLast
      sentCost = add(sentCost, costOf(asObject(message['metrics'])?.['cost']))
    },
    shown(message) {
      if (!isShown) title = titleOf(asString(message?.['text']))
      isShown = true
      if (message === undefined) return
      time(message)
      shownModel = modelOf(message) ?? shownModel
      const isRequest = isCounted(nameOf(message))
      const request = isRequest ? requestOf(message) : undefined
      const costing = isRequest ? request : asObject(message['contextCondense'])
      shownCost = add(shownCost, costOf(costing?.['cost']))
      // Not the message itself: it may be of many MB, and waits for the end of the list.
      status = statusOf(nameOf(message), request)
    },
    facts(sidecars) {
      const item = sidecars.filter(isObject).find((one) => typeof one['task'] === 'string')
      const metadata = sidecars.filter(isObject).find((one) => one !== item)
      const version = versionOf(metadata)
      const named = asString(item?.['task'])
      const heading = named === undefined ? title : titleOf(named)
      const cwd = asString(item?.['workspace']) ?? folder
      const model = shownModel ?? toldLast ?? modelTimes(metadata === undefined ? [] : [metadata])(undefined)
      const [startedAt, endedAt] = [fromMillis(first), fromMillis(last)]
      // What the requests cost; where only the history is there, what its answers did.
      const cost = isShown ? shownCost : sentCost
      const mode = asString(item?.['mode'])
      const parentTask = asString(item?.['parentTaskId'])
      const task = asString(item?.['id'])
      return {
        ...(task !== undefined && { task }),
        ...(startedAt !== undefined && { began: String(first) }),
        ...(heading !== undefined && { title: heading }),
        ...(model !== undefined && { model }),
        ...(mode !== undefined && { mode }),
        ...(cwd !== undefined && { cwd }),
        ...(version !== undefined && { version }),
        ...(startedAt !== undefined && { startedAt }),
        ...(endedAt !== undefined && { endedAt }),
        ...(parentTask !== undefined && { parentTask }),
        status,
        ...(cost !== undefined && { reportedCost: toDollars(cost) }),
      }
    },
  }
}

/** The first line of what was asked for, as the family itself lists its tasks. */
export function titleOf(text: string | undefined): string | undefined {
  const line = text
    ?.slice(0, 4000)
    .split('\n')
    .map((one) => one.trim())
    .find((one) => one !== '' && !/^<\/?[a-z_]+>$/.test(one))
  // A copy: a part of a text holds on to all of it, which may be of many MB.
  return line === undefined ? undefined : (JSON.parse(JSON.stringify(line.slice(0, TITLE_LENGTH))) as string)
}

const TITLE_LENGTH = 200

/** The model of a time, as `task_metadata.json` lists them; without a time the last. */
export function modelTimes(sidecars: readonly Json[]): (ts: number | undefined) => string | undefined {
  const uses = sidecars
    .filter(isObject)
    .flatMap((one) => asArray(one['model_usage']) ?? [])
    .filter(isObject)
    .map((use) => ({ since: asNumber(use['ts']) ?? 0, model: asString(use['model_id']) }))
    .sort((a, b) => a.since - b.since)
  return (ts = Number.POSITIVE_INFINITY) => {
    let low = 0
    let high = uses.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((uses[middle]?.since ?? 0) <= ts) low = middle + 1
      else high = middle
    }
    return uses[low - 1]?.model
  }
}

function versionOf(metadata: JsonObject | undefined): string | undefined {
  const last = asObject(asArray(metadata?.['environment_history'])?.at(-1))
  return asString(last?.['cline_version'])
}

const add = (sum: number | undefined, more: number | undefined): number | undefined =>
  more === undefined ? sum : (sum ?? 0) + more

/** Nothing is written when a task is left; only what was asked last tells more. */
function statusOf(name: string, request: JsonObject | undefined): Status {
  if (name === 'ask:api_req_failed') return 'failed'
  if (name === 'ask:resume_task') return 'interrupted'
  const isCanceled = name === 'say:api_req_started' && request !== undefined && 'cancelReason' in request
  return isCanceled ? 'canceled' : 'completed'
}
