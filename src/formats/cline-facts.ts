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
}

type Lists = {
  readonly history: readonly (JsonObject | undefined)[]
  readonly ui: readonly (JsonObject | undefined)[]
  /** `task_metadata.json`, `history_item.json`. */
  readonly sidecars: readonly Json[]
}

export function taskFacts({ history, ui, sidecars }: Lists): TaskFacts {
  const item = sidecars.filter(isObject).find((one) => typeof one['task'] === 'string')
  const metadata = sidecars.filter(isObject).find((one) => one !== item)
  const version = versionOf(metadata)
  const title = titleOf(asString(item?.['task']) ?? asString(ui[0]?.['text']))
  const cwd = asString(item?.['workspace']) ?? firstFound(history, toldFolder)
  const model = lastModel(history, ui, metadata)
  const times = [...ui, ...history].flatMap((message) => asNumber(message?.['ts']) ?? [])
  const startedAt = fromMillis(times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY))
  const endedAt = fromMillis(times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY))
  const cost = costSum(history, ui)
  const mode = asString(item?.['mode'])
  const parentTask = asString(item?.['parentTaskId'])
  const task = asString(item?.['id'])
  return {
    ...(task !== undefined && { task }),
    ...(title !== undefined && { title }),
    ...(model !== undefined && { model }),
    ...(mode !== undefined && { mode }),
    ...(cwd !== undefined && { cwd }),
    ...(version !== undefined && { version }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(parentTask !== undefined && { parentTask }),
    status: statusOf(ui),
    ...(cost !== undefined && { reportedCost: toDollars(cost) }),
  }
}

/** The first line of what was asked for, as the family itself lists its tasks. */
export function titleOf(text: string | undefined): string | undefined {
  const line = text
    ?.slice(0, 4000)
    .split('\n')
    .map((one) => one.trim())
    .find((one) => one !== '' && !/^<\/?[a-z_]+>$/.test(one))
  return line === undefined ? undefined : line.slice(0, TITLE_LENGTH)
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

function lastModel(
  history: Lists['history'],
  ui: Lists['ui'],
  metadata: JsonObject | undefined,
): string | undefined {
  const shown = ui.findLast((message) => message !== undefined && modelOf(message) !== undefined)
  if (shown !== undefined) return modelOf(shown)
  const told = history.findLast((message) => message !== undefined && namedIn(message) !== undefined)
  return told === undefined ? modelTimes(metadata === undefined ? [] : [metadata])(undefined) : namedIn(told)
}

const namedIn = (message: JsonObject): string | undefined => modelOf(message) ?? toldModel(message)

function firstFound(
  history: Lists['history'],
  find: (message: JsonObject) => string | undefined,
): string | undefined {
  for (const message of history) {
    const found = message === undefined ? undefined : find(message)
    if (found !== undefined) return found
  }
  return undefined
}

function versionOf(metadata: JsonObject | undefined): string | undefined {
  const last = asObject(asArray(metadata?.['environment_history'])?.at(-1))
  return asString(last?.['cline_version'])
}

/** What the requests cost; where only the history is there, what its answers did. */
function costSum(history: Lists['history'], ui: Lists['ui']): number | undefined {
  const costs =
    ui.length > 0
      ? ui.map((message) => {
          if (message === undefined) return undefined
          if (isCounted(nameOf(message))) return costOf(requestOf(message)?.['cost'])
          return costOf(asObject(message['contextCondense'])?.['cost'])
        })
      : history.map((message) => costOf(asObject(message?.['metrics'])?.['cost']))
  const known = costs.filter((cost) => cost !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0)
}

/** Nothing is written when a task is left; only what was asked last tells more. */
function statusOf(ui: Lists['ui']): Status {
  const last = ui.findLast((message) => message !== undefined)
  const name = last === undefined ? '' : nameOf(last)
  if (name === 'ask:api_req_failed') return 'failed'
  if (name === 'ask:resume_task') return 'interrupted'
  const isCanceled =
    name === 'say:api_req_started' && last !== undefined && 'cancelReason' in (requestOf(last) ?? {})
  return isCanceled ? 'canceled' : 'completed'
}
