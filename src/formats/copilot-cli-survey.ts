/**
 * What the shutdowns of a log account for, found before it is read: which messages each covers, and what it adds to them so that
 * the sum over the log is what the shutdowns say. Counters run on over resumes and begin anew after a compaction; the output of
 * the messages, which is known, tells which. Since 1.0.102 each call has a record of its own, and a shutdown adds only what no record has.
 */
import type { Call } from '../transcript/entry.ts'
import { asObject, asString, isObject, type JsonObject } from '../transcript/json.ts'
import { readLines, type Line } from '../transcript/lines.ts'
import { createLineTaker, type JsonRecord } from '../transcript/records.ts'
import type { SourceFile } from '../transcript/source.ts'
import { addUsage, hasCounts, type Usage } from '../transcript/usage.ts'
import {
  callOf,
  fromMetrics,
  growth,
  hasGrown,
  metricsOf,
  outputOf,
  toMetrics,
  type Metrics,
} from './copilot-cli-usage.ts'
import { createIdSet } from './id-set.ts'

export type Survey = {
  /** By the offset they stand at. */
  readonly shutdowns: ReadonlyMap<number, readonly ModelReport[]>
  /** True for a message at this offset that a later shutdown accounts for. */
  readonly isCovered: (byteOffset: number) => boolean
  /** True for a call that a message or a record counts. */
  readonly isCounted: (call: Call) => boolean
  /** True for a call that has a record of its own. */
  readonly isRecorded: (call: Call) => boolean
  /** What the shutdowns say together. */
  readonly reported?: Usage
}

/** What a shutdown says about one model beyond the messages before it. */
export type ModelReport = {
  readonly model: string
  readonly usage: Usage
  /** The last of the model's calls, which the counts that no message has are added to; absent where there is none. */
  readonly call?: Call
}

/** More legs than anybody resumes; what comes after them is read without its sums. */
const MOST_SHUTDOWNS = 1000

type Counted = {
  readonly at: number
  readonly output: number
  readonly model?: string
  readonly call?: Call
  /** All counters of the call, where it has a record. */
  readonly recorded?: Metrics
}

export async function surveyCopilotLog(file: SourceFile): Promise<Survey> {
  const shutdowns = new Map<number, readonly ModelReport[]>()
  const ranges: { readonly from: number; readonly to: number }[] = []
  let reported: Usage | undefined
  let before: ReadonlyMap<string, Metrics> | undefined
  /** Calls since the last shutdown, the last report of each: as totals count them. */
  let calls = new Map<string, Counted>()
  const counted = createIdSet()
  const recorded = createIdSet()
  let segmentFrom = 0
  let legFrom = 0

  const shutDown = (data: JsonObject, at: number): void => {
    const now = metricsOf(data)
    const counts = [...now.values()].some((one) => hasCounts(fromMetrics(one)))
    if (!counts || shutdowns.size === MOST_SHUTDOWNS) return
    const since = [...calls.values()]
    const sumFrom = (from: number): number => sumOf(since.filter((call) => call.at >= from))
    const { metrics, from } = settle(before, now, { segmentFrom, legFrom, sumFrom })
    const covered = since.filter((call) => call.at >= from)
    const reports = toReports(metrics, covered, data)
    // One that counted less than its messages did has missed some of them.
    const isWhole = outputOf(metrics) >= sumFrom(from)
    if (isWhole) ranges.push({ from, to: at })
    shutdowns.set(at, isWhole ? reports : reports.map(toPartial))
    for (const one of metrics.values()) {
      const usage = fromMetrics(one)
      if (hasCounts(usage)) reported = reported === undefined ? usage : addUsage(reported, usage)
    }
    before = now
    calls = new Map()
    segmentFrom = at
    legFrom = at
  }

  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const take = ({ value: line, byteOffset: at }: JsonRecord): void => {
    const data = isObject(line) ? asObject(line['data']) : undefined
    if (!isObject(line) || data === undefined) return
    if (line['type'] === 'session.shutdown') shutDown(data, at)
    else if (line['type'] === 'session.resume') legFrom = at
    else if (line['type'] === 'assistant.message' || line['type'] === 'session.usage_record') {
      const record = line['type'] === 'assistant.message' ? undefined : asObject(data['usage'])
      const { outputTokens: output = 0, ...metrics } = toMetrics(record ?? data)
      if (output === 0 && record === undefined) return
      const model = asString((record ?? data)['model'])
      const call = callOf(record ?? data)
      const key = call?.messageId ?? call?.requestId ?? `${at}`
      counted.add(key)
      if (record !== undefined) recorded.add(key)
      else if (recorded.has(key)) return
      calls.set(key, {
        at,
        output,
        ...(model !== undefined && { model }),
        ...(call !== undefined && { call }),
        ...(record !== undefined && { recorded: metrics }),
      })
    }
  }
  const taker = createLineTaker(file.path)
  const takeLine = (line: Line): void => {
    const records: JsonRecord[] = []
    if (LOOKED_FOR.some((type) => line.text?.includes(type))) taker.take(line, records, [])
    records.forEach(take)
  }
  for await (const lines of readLines(file.chunks(), { isJson: true })) lines.forEach(takeLine)
  return {
    shutdowns,
    isCovered: (byteOffset) => isWithin(ranges, byteOffset),
    isCounted: ({ messageId, requestId }) => counted.has(messageId ?? requestId ?? ''),
    isRecorded: ({ messageId, requestId }) => recorded.has(messageId ?? requestId ?? ''),
    ...(reported !== undefined && { reported }),
  }
}

const LOOKED_FOR = [
  '"assistant.message"',
  '"session.usage_record"',
  '"session.shutdown"',
  '"session.resume"',
] as const

type Since = {
  /** The offset of the last shutdown, and that of the last resume. */
  readonly segmentFrom: number
  readonly legFrom: number
  readonly sumFrom: (byteOffset: number) => number
}

/** What a shutdown's counters add to the one before, and from which offset on. A leg that crashed may be in them or not. */
function settle(
  before: ReadonlyMap<string, Metrics> | undefined,
  now: ReadonlyMap<string, Metrics>,
  { segmentFrom, legFrom, sumFrom }: Since,
): { readonly metrics: ReadonlyMap<string, Metrics>; readonly from: number } {
  const segment = sumFrom(segmentFrom)
  const leg = sumFrom(legFrom)
  const grown = before !== undefined && hasGrown(before, now) ? growth(before, now) : undefined
  if (grown !== undefined && outputOf(grown) === segment) return { metrics: grown, from: segmentFrom }
  const metrics = grown === undefined || outputOf(now) === leg ? now : grown
  return { metrics, from: outputOf(metrics) >= segment ? segmentFrom : legFrom }
}

/** Output that messages have is not said again; what they lack is given to the models that lack it. */
function toReports(
  metrics: ReadonlyMap<string, Metrics>,
  calls: readonly Counted[],
  shutdown: JsonObject,
): readonly ModelReport[] {
  const recorded = calls.filter((call) => call.recorded !== undefined)
  if (recorded.length > 0 && sumOf(recorded) >= outputOf(metrics)) return []
  const counted = new Map<string, number>()
  const last = new Map<string, Counted>()
  /** Output of messages that name no model, or that their model's counters do not hold: it is somebody's. */
  let unplaced = 0
  for (const call of calls) {
    const { model, output } = call
    if (model === undefined || !metrics.has(model)) unplaced += output
    else {
      counted.set(model, (counted.get(model) ?? 0) + output)
      if (call.call !== undefined && call.recorded === undefined) last.set(model, call)
    }
  }
  const unrecorded = recorded.reduce(
    (left, { model, recorded: one }) =>
      model === undefined || one === undefined ? left : growth(new Map([[model, one]]), left),
    metrics,
  )
  for (const [model, { outputTokens = 0 }] of metrics) {
    unplaced += Math.max(0, (counted.get(model) ?? 0) - outputTokens)
  }
  return [...metrics].flatMap(([model, one]): readonly ModelReport[] => {
    const lacking = Math.max(0, (one.outputTokens ?? 0) - (counted.get(model) ?? 0))
    const more = Math.max(0, lacking - unplaced)
    unplaced -= lacking - more
    const raw = asObject(asObject(shutdown['modelMetrics'])?.[model])
    const { output: _, ...usage } = fromMetrics(unrecorded.get(model) ?? one, raw)
    const own = last.get(model)
    const output = more > 0 ? { output: more + (own?.output ?? 0) } : {}
    const call = own?.call
    return [{ model, usage: { ...usage, ...output }, ...(call !== undefined && { call }) }]
  })
}

const sumOf = (calls: readonly Counted[]): number => calls.reduce((sum, { output }) => sum + output, 0)

function toPartial(report: ModelReport): ModelReport {
  return { ...report, usage: { ...report.usage, quality: 'partial' } }
}

/** Ranges are in the order of the file and do not overlap. */
function isWithin(ranges: readonly { readonly from: number; readonly to: number }[], line: number): boolean {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.to ?? 0) < line) low = middle + 1
    else high = middle
  }
  const range = ranges[low]
  return range !== undefined && range.from <= line && line < range.to
}
