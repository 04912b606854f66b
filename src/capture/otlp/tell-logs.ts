/** Log records of one call: its messages, one by one, as the older conventions have it, or all of it in one record. */
import { randomUUID } from 'node:crypto'
import { readOtelSpan, type OtelCall } from '../../wire/otel.ts'
import { fromEvents } from '../../wire/otel-events.ts'
import type { Attributes, OtlpLog, OtlpSpan } from '../../wire/otlp.ts'
import type { Recorder } from '../record.ts'
import { sourceOf, tellMore, type HeardCall } from './heard-calls.ts'
import { atOf, heard, recall, speakerOf, tellCall, toPart, type Hearing } from './tell-span.ts'

/** `key`: of the call's span, or of nothing else where the records name none. */
export async function tellLogs(
  hearing: Hearing,
  key: string,
  logs: readonly OtlpLog[],
): Promise<Recorder | undefined> {
  const [first] = logs
  const { asked, answered, details } = fromEvents(logs)
  const span = first && toSpan(first, details ?? first.attributes)
  const told = span && readOtelSpan(span)
  if (span === undefined || told?.kind !== 'call') return undefined
  const traceId = first?.traceId
  const belonging = { ...(traceId !== undefined && { traceId }), who: told, resource: span.resource }
  await recall(hearing, belonging, true)
  if (details !== undefined) return tellCall(hearing, span, told, belonging)
  const [answer] = answered
  const call: OtelCall = {
    ...told,
    request: { ...told.request, messages: asked },
    message: {
      ...told.message,
      blocks: answer?.blocks ?? [],
      ...(answer?.finishReason !== undefined && { stopReason: answer.finishReason }),
    },
  }
  const before = hearing.calls.get(key)
  if (before !== undefined) return tellMore(before, toPart(span, call), 'logs')
  const talk = hearing.talks.of(belonging, asked)
  const recorder = await talk.recorder(span.startedAt)
  const voice = talk.voices.of(speakerOf(hearing, span, told), call.request)
  const begun: HeardCall = {
    talk,
    voice,
    messageId: undefined,
    hasContent: false,
    hasAnswer: false,
    hasSpan: false,
  }
  hearing.calls.remember(key, begun)
  const { model } = told.request
  const about = { call: span.spanId, api: 'otlp', ...(model !== undefined && { model }) }
  sourceOf(recorder, voice).event('call-started', about, atOf(span.startedAt))
  heard(talk, span)
  return tellMore(begun, toPart(span, call), 'logs')
}

/** The span that the records stand for, as long as it has not come itself. */
function toSpan(log: OtlpLog, attributes: Attributes): OtlpSpan {
  const { at } = log
  return {
    traceId: log.traceId ?? '',
    spanId: log.spanId ?? randomUUID().replaceAll('-', '').slice(0, 16),
    name: log.name,
    ...(at !== undefined && { startedAt: at, endedAt: at }),
    attributes: new Map([['gen_ai.operation.name', 'chat'], ...attributes]),
    events: [],
    isError: false,
    resource: log.resource,
  }
}
