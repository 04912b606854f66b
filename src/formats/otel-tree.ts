/** How spans hang together: which conversation and which agent each is of, and which of them only sum up the calls below. */
import { PRIMARY } from '../transcript/entry.ts'
import { readOtelSpan, type OtelTold } from '../wire/otel.ts'
import type { OtlpSpan } from '../wire/otlp.ts'

export type TreeSpan = { readonly span: OtlpSpan; readonly told: OtelTold | undefined }

export type OtelTree = {
  /** The name of its session: the conversation's, or its trace's where none is told. */
  sessionOf(span: OtlpSpan): { readonly name: string; readonly isTold: boolean }
  sourceOf(span: OtlpSpan): string
  /** True for an agent whose calls are spans of their own. */
  hasCalls(span: OtlpSpan): boolean
}

/** Parents above parents past this are not looked at. */
const DEPTH = 200

export const toTreeSpan = (span: OtlpSpan): TreeSpan => ({ span, told: readOtelSpan(span) })

export function createOtelTree(spans: readonly TreeSpan[]): OtelTree {
  const byId = new Map<string, TreeSpan>()
  const conversations = new Map<string, string>()
  const withCalls = new Set<string>()
  for (const one of spans) {
    byId.set(keyOf(one.span), one)
    const { conversation } = one.told ?? {}
    if (conversation !== undefined && !conversations.has(one.span.traceId))
      conversations.set(one.span.traceId, conversation)
  }
  for (const { span, told } of spans) {
    if (told?.kind !== 'call') continue
    for (const above of ancestors(span, byId)) withCalls.add(keyOf(above.span))
  }
  return {
    sessionOf(span) {
      const own = byId.get(keyOf(span))?.told?.conversation ?? conversations.get(span.traceId)
      return own === undefined ? { name: span.traceId, isTold: false } : { name: own, isTold: true }
    },
    sourceOf(span) {
      const agents = [byId.get(keyOf(span)), ...ancestors(span, byId)].filter(
        (one) => one?.told?.kind === 'agent',
      )
      const [nearest] = agents
      // The outermost agent is the session's own.
      return nearest === undefined || agents.length < 2 ? PRIMARY : `subagent:${nearest.span.spanId}`
    },
    hasCalls: (span) => withCalls.has(keyOf(span)),
  }
}

const keyOf = ({ traceId, spanId }: OtlpSpan): string => `${traceId}-${spanId}`

function* ancestors(span: OtlpSpan, byId: ReadonlyMap<string, TreeSpan>): Generator<TreeSpan> {
  const seen = new Set([keyOf(span)])
  let at: OtlpSpan = span
  for (let depth = 0; depth < DEPTH && at.parentId !== undefined; depth += 1) {
    const key = `${at.traceId}-${at.parentId}`
    const above = byId.get(key)
    if (above === undefined || seen.has(key)) return
    seen.add(key)
    yield above
    at = above.span
  }
}
