/**
 * What a run of Claude Code has used, against what its messages said: calls that are not printed, and output that was not known when
 * a message was. Sums by model where its names are those of the messages; else one sum for all.
 */
import type { JsonObject } from '../transcript/json.ts'
import { asCount, asObject } from '../transcript/json.ts'
import { laterReport, type Usage } from '../transcript/usage.ts'
import type { StreamDetails } from './stream-session.ts'

export type Used = {
  /** The last report of a message wins, count by count. */
  report(messageId: string, model: string | undefined, usage: Usage): void
  /** What was not reported yet of what `modelUsage` says; it counts as reported from now on. */
  missing(modelUsage: JsonObject | undefined): readonly StreamDetails[]
}

type Counts = {
  readonly input: number
  readonly cacheRead: number
  readonly written: number
  readonly output: number
}
const NONE: Counts = { input: 0, cacheRead: 0, written: 0, output: 0 }
/** Messages whose reports may still change; older ones are settled. */
const MOST_OPEN = 1000

type Open = { readonly model: string; readonly usage: Usage }

export function createUsed(): Used {
  const open = new Map<string, Open>()
  const settled = new Map<string, Counts>()
  const settle = (model: string, counts: Counts): void =>
    void settled.set(model, add(settled.get(model) ?? NONE, counts))

  const sums = (): ReadonlyMap<string, Counts> => {
    const all = new Map(settled)
    for (const { model, usage } of open.values()) all.set(model, add(all.get(model) ?? NONE, toCounts(usage)))
    return all
  }
  /** The last message whose output was not known when it was printed. */
  const lastCut = (model: string): readonly [string, Open] | undefined =>
    [...open].findLast(
      ([, one]) => one.usage.quality === 'partial' && (model === '' || plainName(one.model) === model),
    )
  return {
    report(messageId, model = '', usage) {
      const before = open.get(messageId)
      open.set(messageId, { model, usage: before === undefined ? usage : laterReport(before.usage, usage) })
      if (open.size <= MOST_OPEN) return
      const [oldest] = open
      if (oldest === undefined) return
      open.delete(oldest[0])
      settle(oldest[1].model, toCounts(oldest[1].usage))
    },
    missing(modelUsage) {
      if (modelUsage === undefined) return []
      const said = new Map(
        Object.entries(modelUsage).map(([name, value]) => [plainName(name), ofModel(value)]),
      )
      const seen = sums()
      const isByModel = [...seen].every(([model, counts]) => covers(said.get(plainName(model)), counts))
      const wanted = isByModel ? said : new Map([['', [...said.values()].reduce(add, NONE)]])
      const known = isByModel ? seen : new Map([['', [...seen.values()].reduce(add, NONE)]])
      return [...wanted].flatMap(([model, counts]): readonly StreamDetails[] => {
        const before = [...known].filter(([name]) => plainName(name) === model).map(([, one]) => one)
        const left = less(counts, before.reduce(add, NONE))
        const isOutputOnly = left.input + left.cacheRead + left.written === 0
        if (isOutputOnly && left.output === 0) return []
        const last = isOutputOnly ? lastCut(model) : undefined
        if (last === undefined) {
          settle(model, left)
          return [{ ...(model !== '' && { model }), usage: toUsage(left) }]
        }
        // No call is missing, only what messages came to after they were printed: the last of them has it for all.
        const [messageId, { usage: said, model: of }] = last
        const usage: Usage = { ...said, output: (said.output ?? 0) + left.output, quality: 'estimated' }
        open.set(messageId, { model: of, usage })
        return [{ ...(of !== '' && { model: of }), usage, call: { provider: 'anthropic', messageId } }]
      })
    },
  }
}

/** A window of a million tokens is said in the model's name here, and nowhere else. */
const plainName = (model: string): string => model.replace(/\[[^\]]*\]$/, '')

function ofModel(value: unknown): Counts {
  const said = asObject(value)
  return {
    input: asCount(said?.['inputTokens']) ?? 0,
    cacheRead: asCount(said?.['cacheReadInputTokens']) ?? 0,
    written: asCount(said?.['cacheCreationInputTokens']) ?? 0,
    output: asCount(said?.['outputTokens']) ?? 0,
  }
}

function toCounts({
  input = 0,
  cacheRead = 0,
  cacheWrite5m = 0,
  cacheWrite1h = 0,
  output = 0,
}: Usage): Counts {
  return { input, cacheRead, written: cacheWrite5m + cacheWrite1h, output }
}

/** Sums of what a provider reported; how long a cache was written for is not among them. */
function toUsage({ input, cacheRead, written, output }: Counts): Usage {
  return { input, cacheRead, cacheWrite5m: written, output, quality: 'estimated' }
}

const map = (of: (count: keyof Counts) => number): Counts => ({
  input: of('input'),
  cacheRead: of('cacheRead'),
  written: of('written'),
  output: of('output'),
})
const add = (a: Counts, b: Counts): Counts => map((count) => a[count] + b[count])
const less = (a: Counts, b: Counts): Counts => map((count) => Math.max(0, a[count] - b[count]))
const covers = (whole: Counts | undefined, part: Counts): boolean =>
  whole !== undefined &&
  whole.input >= part.input &&
  whole.cacheRead >= part.cacheRead &&
  whole.written >= part.written &&
  whole.output >= part.output
