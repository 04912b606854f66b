/**
 * Spans and log records that somebody exports, recorded as the sessions that they tell of. In the journal when it is said that they
 * were taken. In any order, over any number of exports, sent twice or not: each call is recorded once, and counted once.
 */
import { randomUUID } from 'node:crypto'
import type { Session } from '../../transcript/session.ts'
import { readOtelSpan } from '../../wire/otel.ts'
import { isGenAiEvent } from '../../wire/otel-events.ts'
import type { OtlpLog, OtlpSpan } from '../../wire/otlp.ts'
import type { Recorder } from '../record.ts'
import { openArchive } from '../../archive/archive.ts'
import { createHeardBefore } from './heard-before.ts'
import { createHeardCalls } from './heard-calls.ts'
import { createSpanTree, keyOf } from './span-tree.ts'
import { createTalks, type TalkOptions } from './talks.ts'
import { tellLogs } from './tell-logs.ts'
import { tellSpan, type Hearing } from './tell-span.ts'

export type OtlpSink = {
  /** False when the disk would not have all of it. Throws where nothing can be recorded; it may then be sent again. */
  spans(spans: readonly OtlpSpan[]): Promise<boolean>
  /** The same, and how many of them say nothing of models. */
  logs(logs: readonly OtlpLog[]): Promise<{ readonly isSafe: boolean; readonly others: number }>
  end(): Promise<readonly Session[]>
}

export type OtlpSinkOptions = TalkOptions

/** After so long without a word a session is ended; milliseconds. */
const SILENT_MS = 15 * 60 * 1000
const LOOK_MS = 60 * 1000

export function createOtlpSink(options: OtlpSinkOptions = {}): OtlpSink {
  const { now = Date.now } = options
  const hearing: Hearing = {
    tree: createSpanTree(),
    talks: createTalks(options),
    calls: createHeardCalls(),
    before: createHeardBefore(() => openArchive(options.home)),
  }
  const looking = setInterval(() => hearing.talks.endSilent(now() - SILENT_MS), LOOK_MS)
  looking.unref()
  const unsafe = new Set<Recorder>()
  /** One export at a time: which session a span belongs to hangs on those before it. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
  return {
    spans: (spans) => inTurn(() => takeSpans(hearing, unsafe, spans)),
    logs: (logs) => inTurn(() => takeLogs(hearing, unsafe, logs)),
    async end() {
      clearInterval(looking)
      await last
      return hearing.talks.end()
    },
  }
}

async function takeSpans(
  hearing: Hearing,
  unsafe: Set<Recorder>,
  spans: readonly OtlpSpan[],
): Promise<boolean> {
  const { tree } = hearing
  // All that is there is known before anything is told: a child may stand before its parent.
  const fresh = spans.flatMap((span) => {
    const told = readOtelSpan(span)
    const isAgent = told?.kind === 'agent'
    const agent = isAgent ? { ...(told.agentName !== undefined && { name: told.agentName }) } : undefined
    return tree.add(span, agent) ? [{ span, told }] : []
  })
  const left = new Set(fresh)
  const touched = new Set<Recorder>()
  try {
    for (const one of inOrder(fresh)) {
      const recorder = one.told && (await tellSpan(hearing, one.span, one.told))
      if (recorder !== undefined) touched.add(recorder)
      left.delete(one)
    }
  } finally {
    for (const { span } of left) tree.forget(keyOf(span.traceId, span.spanId))
  }
  return flushed(touched, unsafe)
}

async function takeLogs(
  hearing: Hearing,
  unsafe: Set<Recorder>,
  logs: readonly OtlpLog[],
): Promise<{ readonly isSafe: boolean; readonly others: number }> {
  const calls = new Map<string, OtlpLog[]>()
  const alone = randomUUID()
  const told = logs.filter(({ name }) => isGenAiEvent(name))
  for (const log of told) {
    const { traceId = '', spanId = alone } = log
    const key = keyOf(traceId, spanId)
    calls.set(key, [...(calls.get(key) ?? []), log])
  }
  const touched = new Set<Recorder>()
  for (const [key, list] of calls) {
    const recorder = await tellLogs(hearing, key, list)
    if (recorder !== undefined) touched.add(recorder)
  }
  return { isSafe: await flushed(touched, unsafe), others: logs.length - told.length }
}

/** Those that the disk would not have stay among the unsafe: what is sent again is there when they are. */
async function flushed(touched: Iterable<Recorder>, unsafe: Set<Recorder>): Promise<boolean> {
  for (const recorder of touched) unsafe.add(recorder)
  await Promise.all(
    [...unsafe].map(async (recorder) => {
      // One that has ended has said by itself what it lost.
      const isOver = recorder.session().status !== 'running'
      if (isOver || (await recorder.flush())) unsafe.delete(recorder)
    }),
  )
  return unsafe.size === 0
}

/** As they ended: who asked later has heard the others, and a sum comes after what it sums. */
function inOrder<T extends { readonly span: OtlpSpan }>(list: readonly T[]): readonly T[] {
  return list.toSorted(
    ({ span: a }, { span: b }) => compare(a.endedAt, b.endedAt) || compare(b.startedAt, a.startedAt),
  )
}

/** Instants of any number of digits. */
function compare(a = '', b = ''): number {
  const [left, right] = [a.replace('Z', ''), b.replace('Z', '')]
  return left < right ? -1 : left > right ? 1 : 0
}
