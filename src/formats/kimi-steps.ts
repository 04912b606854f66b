/**
 * Which usage of a Kimi wire belongs to which step. Protocol 1.4 writes `usage.record` behind the `step.end` that says the same, 1.5 before
 * it. The provider's name for an answer stands only in `step.end`, so a first pass collects the ends of steps.
 */
import {
  asObject,
  asString,
  isObject,
  parseJson,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { readLines, type Line } from '../transcript/lines.ts'
import type { SourceFile } from '../transcript/source.ts'
import { usageOf } from './kimi-parts.ts'
import { asId } from './placing.ts'
import { asProviderId } from './provider-id.ts'

/** `id` is the provider's; `counts` is absent where the step stated no usage. */
type Ended = { readonly id?: string; readonly counts?: string }

export type Steps = {
  /** Called for `step.begin` and `step.end`. */
  observe(event: JsonObject): void
  /** What names the call of a step: the provider's id, else the step's own. */
  idOf(uuid: Json | undefined): string | undefined
  /**
   * The step that a `usage.record` is of: `repeated` where its end has already stated it, undefined for a call of no step.
   */
  stepOf(record: JsonObject): { readonly uuid: string } | 'repeated' | undefined
}

/** More steps than any session has: bounds memory. */
const MOST_STEPS = 100_000

export async function surveySteps(file: SourceFile): Promise<ReadonlyMap<string, Ended>> {
  const ends = new Map<string, Ended>()
  /** Ids that a server gave to several steps name none of them. */
  const given = new Map<string, string>()
  const take = ({ text, value }: Line): void => {
    if (text?.includes('"step.end"') !== true || ends.size >= MOST_STEPS) return
    const line = value ?? parseJson(text)
    const event = isObject(line) ? asObject(line['event']) : undefined
    const uuid = asId(event?.['uuid'])
    if (event?.['type'] !== 'step.end' || uuid === undefined) return
    const id = asProviderId(event['messageId'])
    const counts = countsOf(event['usage'])
    const before = id === undefined ? undefined : given.get(id)
    if (before !== undefined && before !== uuid) {
      const { id: _, ...rest } = ends.get(before) ?? {}
      ends.set(before, rest)
    }
    if (id !== undefined) given.set(id, uuid)
    const isOwn = id !== undefined && before === undefined
    ends.set(uuid, { ...(isOwn && { id }), ...(counts !== undefined && { counts }) })
  }
  for await (const lines of readLines(file.chunks(), { isJson: true })) lines.forEach(take)
  return ends
}

export function createSteps(ends: ReadonlyMap<string, Ended>): Steps {
  let open: string | undefined
  /** The step that is open has its usage already. */
  let isRecorded = false
  /** What the last step's end stated and no record before it did. */
  let awaited: string | undefined
  return {
    observe(event) {
      const uuid = asId(event['uuid'])
      if (event['type'] === 'step.begin') [open, isRecorded] = [uuid, false]
      if (event['type'] !== 'step.end') return
      awaited = isRecorded && uuid === open ? undefined : countsOf(event['usage'])
      open = undefined
    },
    idOf(stated) {
      const uuid = asId(stated)
      return uuid === undefined ? undefined : (ends.get(uuid)?.id ?? uuid)
    },
    stepOf(record) {
      const counts = countsOf(record['usage'])
      const scope = asString(record['usageScope'])
      if (open !== undefined && (scope === undefined || scope === 'turn')) {
        const stated = ends.get(open)?.counts
        // A failed attempt of the same step may have been counted, too.
        if (stated !== undefined && stated !== counts) return undefined
        isRecorded = true
        return { uuid: open }
      }
      if (awaited === undefined || awaited !== counts) return undefined
      awaited = undefined
      return 'repeated'
    },
  }
}

function countsOf(raw: Json | undefined): string | undefined {
  const usage = usageOf(raw)
  if (usage === undefined) return undefined
  const { input = null, cacheRead = null, cacheWrite5m = null, output = null } = usage
  return toJson([input, cacheRead, cacheWrite5m, output])
}
