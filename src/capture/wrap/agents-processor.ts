/**
 * A tracing processor for `@openai/agents`. A trace is a session, and all traces of one group are the same one; an agent that is the
 * tool of another is a subagent. The package tells of a call when it is over: one that the program dies in is not in the record.
 */
import { fromGenerationSpan, fromResponseSpan, toText, type Told } from './agents-span.ts'
import { field, text, toInput, toPlain } from './foreign.ts'
import type { WrapLog } from './wrap-log.ts'

/** Has the shape of the package's own. */
export type TracingProcessor = {
  onTraceStart(trace: unknown): Promise<void>
  onTraceEnd(trace: unknown): Promise<void>
  onSpanStart(span: unknown): Promise<void>
  onSpanEnd(span: unknown): Promise<void>
  /** Ends the sessions. The package calls it when the process does. */
  shutdown(timeoutMs?: number): Promise<void>
  forceFlush(): Promise<void>
}

/** Traces that never end are forgotten in time. */
const MOST_TRACES = 10_000

export function createProcessor(log: WrapLog): TracingProcessor {
  const groupOf = new Map<string, string>()
  const { guard } = log.report
  const groupsOf = (span: unknown): readonly string[] => {
    const trace = text(field(span, 'traceId')) ?? ''
    const group = groupOf.get(trace)
    return [`agents trace ${trace}`, ...(group === undefined ? [] : [`agents group ${group}`])]
  }

  const call = (span: unknown, { request, message }: Told): void => {
    const { model } = request
    const open = log.ask({
      request,
      groups: groupsOf(span),
      client: { agent: 'openai-agents' },
      about: { api: 'openai-agents', ...(model !== undefined && { model }) },
    })
    const error = text(field(field(span, 'error'), 'message'))
    const details = durationOf(span)
    if (message !== undefined)
      open.answered(error === undefined ? message : { ...message, error: { message: error } }, details)
    else open.broken('upstream', error ?? 'no answer', details)
  }

  const ended = guard('a span', (span: unknown) => {
    const data = field(span, 'spanData')
    switch (field(data, 'type')) {
      case 'response':
        return call(span, fromResponseSpan(data))
      case 'generation':
        return call(span, fromGenerationSpan(data))
      case 'function': {
        const name = text(field(data, 'name'))
        const error = text(field(field(span, 'error'), 'message'))
        const output = field(data, 'output')
        return log.toolResult({
          ...(name !== undefined && { name }),
          input: toInput(field(data, 'input')),
          ...(error === undefined ? { output: toText(output ?? '') } : { error }),
          ...durationOf(span),
        })
      }
      case 'handoff':
      case 'guardrail':
      case 'custom':
        return log.note(groupsOf(span), String(field(data, 'type')), toPlain(data))
      default:
        return undefined
    }
  })
  return {
    onTraceStart: async (trace) =>
      guard('a trace', () => {
        const id = text(field(trace, 'traceId'))
        const group = text(field(trace, 'groupId'))
        if (id === undefined || group === undefined) return
        groupOf.set(id, group)
        if (groupOf.size > MOST_TRACES) groupOf.delete(groupOf.keys().next().value as string)
      })(),
    async onTraceEnd() {},
    async onSpanStart() {},
    onSpanEnd: async (span) => ended(span),
    shutdown: async () => void (await log.end()),
    forceFlush: () => log.settled(),
  }
}

function durationOf(span: unknown): { readonly durationMs?: number } {
  const began = Date.parse(text(field(span, 'startedAt')) ?? '')
  const ended = Date.parse(text(field(span, 'endedAt')) ?? '')
  return ended >= began ? { durationMs: ended - began } : {}
}
