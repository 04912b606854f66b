/**
 * One span, recorded as what it tells: a call with what is new in it, a tool's result, an agent at work. Sums of calls that are told
 * themselves are notes, and not counted.
 */
import type { JsonObject } from '../../transcript/json.ts'
import type { OtelAgent, OtelCall, OtelTold, OtelTool } from '../../wire/otel.ts'
import type { OtlpSpan } from '../../wire/otlp.ts'
import type { Recorder } from '../record.ts'
import { sourceOf, tellMore, type HeardCalls } from './heard-calls.ts'
import { keyOf, type Below, type SpanTree } from './span-tree.ts'
import type { EarlierCall, HeardBefore } from './heard-before.ts'
import { identityOf, type Belonging, type Talk, type Talks } from './talks.ts'
import type { Speaker } from './voices.ts'
import { saysAnything, writeAnswer, writeAsked, type Part } from './write-call.ts'

export type Hearing = {
  readonly tree: SpanTree
  readonly talks: Talks
  readonly calls: HeardCalls
  readonly before: HeardBefore
}

/** What was recorded before this process began is known before anything is told that may go on with it. */
export async function recall(
  { talks, before }: Hearing,
  belonging: Belonging,
  isCall: boolean,
): Promise<void> {
  if (talks.known(belonging) !== undefined) return
  const { native } = identityOf(belonging)
  const earlier = native && (await before.named(native.agent, native.sessionId))
  if (earlier !== undefined) return talks.adopt(earlier)
  if (belonging.who.conversation === undefined && isCall)
    for (const one of await before.nameless()) talks.adopt(one)
}

/** Gives the recorder that it went to; none for what says nothing of a session that there is. */
export async function tellSpan(
  hearing: Hearing,
  span: OtlpSpan,
  told: OtelTold,
): Promise<Recorder | undefined> {
  const belonging = { traceId: span.traceId, who: told, resource: span.resource }
  await recall(hearing, belonging, told.kind === 'call')
  switch (told.kind) {
    case 'call':
      return tellCall(hearing, span, told, belonging)
    case 'tool':
      return tellTool(hearing, span, told, belonging)
    case 'agent':
      return tellAgent(hearing, span, told, belonging)
    case 'step': {
      const { talks } = hearing
      const talk = told.isWrapper ? talks.known(belonging) : talks.of(belonging, [])
      return talk && note(talk, span, speakerOf(hearing, span, told), ['span', told.about])
    }
  }
}

export async function tellCall(
  hearing: Hearing,
  span: OtlpSpan,
  told: OtelCall,
  belonging: Belonging,
): Promise<Recorder> {
  const { tree, talks, calls } = hearing
  const key = keyOf(span.traceId, span.spanId)
  const before = calls.get(key)
  if (before !== undefined) {
    const recorder = await tellMore(before, toPart(span, told), 'span')
    tree.count(key, before.hasContent)
    return recorder
  }
  const below = tree.countedBelow(key) ?? countedBefore(talks.known(belonging), span, false)
  if (below === undefined) return take(hearing, span, told, belonging)
  await fill(hearing, below.hasContent ? undefined : below.last, toPart(span, told))
  const talk = talks.of(belonging, told.request.messages)
  const { operation, request } = told
  const about = { name: span.name, operation, ...(request.model !== undefined && { model: request.model }) }
  return note(talk, span, speakerOf(hearing, span, told), ['span', { ...about, sumsUp: true }])
}

/** A call that nobody has told of before. */
async function take(
  hearing: Hearing,
  span: OtlpSpan,
  told: OtelCall | OtelAgent,
  belonging: Belonging,
): Promise<Recorder> {
  const { tree, talks, calls } = hearing
  const key = keyOf(span.traceId, span.spanId)
  const { messages } = told.request
  const talk = talks.of(belonging, messages)
  const recorder = await talk.recorder(span.startedAt)
  if (talk.before?.spans.has(span.spanId) === true) return recorder
  // What sums it up may have come first.
  const sum = tree.countedAbove(key)
  const voice = calls.get(sum ?? '')?.voice ?? talk.voices.of(speakerOf(hearing, span, told), told.request)
  const source = sourceOf(recorder, voice)
  const part = toPart(span, told)
  const isCountedElsewhere = sum !== undefined
  writeAsked(source, voice, part)
  writeAnswer(source, voice, { ...part, isCountedElsewhere })
  if (!isCountedElsewhere) tree.count(key, saysAnything(part))
  calls.remember(key, {
    talk,
    voice,
    messageId: part.message.messageId,
    hasContent: saysAnything(part),
    hasAnswer: part.message.blocks.length > 0,
    hasSpan: true,
  })
  heard(talk, span)
  return recorder
}

/**
 * Calls below a span that were counted before this process began: what lay between is not known any more, so an agent's are those
 * that were within its time.
 */
function countedBefore(talk: Talk | undefined, span: OtlpSpan, isAgent: boolean): Below | undefined {
  const { startedAt = '', endedAt = '' } = span
  const isBelow = ({ trace, parent, at }: EarlierCall): boolean =>
    trace === span.traceId && (parent === span.spanId || (isAgent && at > startedAt && at <= endedAt))
  return talk?.before?.calls.some(isBelow) === true ? { last: '', hasContent: true } : undefined
}

/** Words that only a sum of calls has are put with the last of them. */
async function fill({ calls }: Hearing, key: string | undefined, part: Part): Promise<void> {
  const call = key === undefined ? undefined : calls.get(key)
  if (call !== undefined && saysAnything(part)) await tellMore(call, part, 'sum')
}

async function tellAgent(
  hearing: Hearing,
  span: OtlpSpan,
  told: OtelAgent,
  belonging: Belonging,
): Promise<Recorder> {
  const { tree, talks, calls } = hearing
  const key = keyOf(span.traceId, span.spanId)
  const below = tree.countedBelow(key) ?? countedBefore(talks.known(belonging), span, true)
  const part = toPart(span, told)
  const { usage, error } = told.message
  const isCall = saysAnything(part) || usage?.quality !== 'unavailable' || error !== undefined
  // Of an agent that runs elsewhere nobody tells the calls.
  if (below === undefined && isCall && calls.get(key) === undefined)
    return take(hearing, span, told, belonging)
  await fill(hearing, below?.hasContent === false ? below.last : undefined, part)
  const talk = talks.of(belonging, told.request.messages)
  return note(talk, span, speakerOf(hearing, span, told), ['agent', told.about])
}

async function tellTool(
  hearing: Hearing,
  span: OtlpSpan,
  told: OtelTool,
  belonging: Belonging,
): Promise<Recorder> {
  const talk = hearing.talks.of(belonging, [])
  const recorder = await talk.recorder(span.startedAt)
  if (talk.before?.spans.has(span.spanId) === true) return recorder
  const { name, input, output, error } = told
  const key = keyOf(span.traceId, span.spanId)
  const callId = told.callId ?? key
  const call = { type: 'tool-call' as const, callId, name, ...(input !== undefined && { input }) }
  const called = [{ role: 'assistant' as const, blocks: [call] }]
  // Who has called it is known by its call, whatever the span is below of.
  const isKnown = talk.voices.overlap(called) > 0
  const voice = isKnown
    ? talk.voices.of({ id: span.spanId }, { messages: called })
    : talk.voices.of(speakerOf(hearing, span, told), { messages: [] })
  const source = sourceOf(recorder, voice)
  link(hearing, talk, recorder, key, { callId, source: source.source })
  if (voice.known.take(called).length > 0) source.message('assistant', [call], atOf(span.startedAt))
  if (voice.known.take([{ role: 'tool', blocks: [{ type: 'tool-result', callId, name }] }]).length > 0)
    source.toolResult({
      callId,
      name,
      ...(output !== undefined && { output }),
      ...(error !== undefined && { error }),
      ...(span.durationMs !== undefined && { durationMs: span.durationMs }),
      ...atOf(span.endedAt),
      metadata: { span: span.spanId },
    })
  heard(talk, span)
  return recorder
}

/** Subagents that were at work while a tool ran are those that its call has started. */
function link(
  { tree }: Hearing,
  { voices }: Talk,
  recorder: Recorder,
  tool: string,
  spawn: { readonly callId: string; readonly source: string },
): void {
  for (const [key, voice] of voices.byKey()) {
    if (voice.isLinked || voice.path.length === 0 || !tree.isBelow(key, tool)) continue
    voice.isLinked = true
    sourceOf(recorder, voice).event('spawned', spawn)
  }
}

async function note(
  talk: Talk,
  span: OtlpSpan,
  speaker: Speaker,
  [record, about]: readonly [string, JsonObject],
): Promise<Recorder> {
  const recorder = await talk.recorder(span.startedAt)
  if (talk.before?.spans.has(span.spanId) === true) return recorder
  const details = { ...atOf(span.endedAt), metadata: { span: span.spanId } }
  sourceOf(recorder, talk.voices.at(speaker)).event(record, about, details)
  heard(talk, span)
  return recorder
}

export function speakerOf(
  { tree }: Pick<Hearing, 'tree'>,
  { traceId, spanId, parentId }: OtlpSpan,
  { kind, agentName, agentId }: OtelTold,
): Speaker {
  const { agents, isWhole } = tree.agentsAbove(keyOf(traceId, spanId))
  const own = kind === 'agent' ? [{ key: keyOf(traceId, spanId), name: agentName }] : []
  const [nearest, next] = [...own, ...agents]
  // While the agent's own span is still to come, its calls are told apart by what they say, or are directly below.
  const stated = agentId ?? agentName
  const parent = isWhole || parentId === undefined ? undefined : keyOf(traceId, parentId)
  const key = nearest?.key ?? parent ?? (stated === undefined ? undefined : `agent ${stated}`)
  const name = nearest?.name ?? agentName
  const startedBy = next?.key ?? (isWhole ? null : undefined)
  return {
    id: nearest?.key.slice(-16) ?? parentId ?? spanId,
    ...(key !== undefined && { key }),
    ...(name !== undefined && { name }),
    ...(startedBy !== undefined && { startedBy }),
  }
}

export function toPart(span: OtlpSpan, told: OtelCall | OtelAgent): Part {
  return {
    request: told.request,
    message: told.message,
    ...(span.startedAt !== undefined && { askedAt: span.startedAt }),
    ...(span.endedAt !== undefined && { answeredAt: span.endedAt }),
    ...(span.durationMs !== undefined && { durationMs: span.durationMs }),
    metadata: {
      span: span.spanId,
      ...(span.traceId !== '' && { trace: span.traceId }),
      ...(span.parentId !== undefined && { parent: span.parentId }),
      ...(told.operation !== 'chat' && { operation: told.operation }),
      ...(told.firstByteMs !== undefined && { firstByteMs: told.firstByteMs }),
    },
  }
}

export function atOf(at: string | undefined): { readonly at?: string } {
  return at === undefined ? {} : { at }
}

/** A session ends when the last that was told of it happened. */
export function heard(talk: Talk, { endedAt }: OtlpSpan): void {
  if (endedAt !== undefined && endedAt > (talk.lastAt ?? '')) talk.lastAt = endedAt
}
