/**
 * What is known of spans, in whatever order they come: which were told, whose children they are, and whose calls are counted. Children
 * end, and are sent, before their parents: what is below a span is remembered before the span is there. Bounded: the oldest are
 * forgotten, and then at worst told again.
 */
import type { OtlpSpan } from '../../wire/otlp.ts'

export type Below = {
  /** The last call below that was counted. */
  readonly last: string
  readonly hasContent: boolean
}

export type AgentSpan = { readonly key: string; readonly name?: string }

export type SpanTree = {
  /** False for one that was told before. */
  add(span: OtlpSpan, agent?: { readonly name?: string }): boolean
  /** It could not be recorded: the next time it is told as if it were the first. */
  forget(key: string): void
  /** The agents that it is the work of, the nearest first; `isWhole`: there are no others. */
  agentsAbove(key: string): { readonly agents: readonly AgentSpan[]; readonly isWhole: boolean }
  /** Its counts are counted: those of whatever is above it are sums of them. */
  count(key: string, hasContent: boolean): void
  countedBelow(key: string): Below | undefined
  /** The one around it that is counted, and that its counts are part of. */
  countedAbove(key: string): string | undefined
  isBelow(key: string, above: string): boolean
}

export const keyOf = (traceId: string, spanId: string): string => `${traceId}-${spanId}`

type Node = {
  isTold: boolean
  parent?: string
  agent?: { readonly name?: string }
  isCounted: boolean
  below?: Below
}

const MOST_SPANS = 100_000
/** A parent that is its own child would go on for ever. */
const DEEPEST = 1000

export function createSpanTree(most: number = MOST_SPANS): SpanTree {
  const nodes = new Map<string, Node>()
  const nodeOf = (key: string): Node => {
    const known = nodes.get(key)
    if (known !== undefined) return known
    const node: Node = { isTold: false, isCounted: false }
    nodes.set(key, node)
    if (nodes.size > most) nodes.delete(nodes.keys().next().value as string)
    return node
  }
  /** From its parent up, as far as is known; `make`: also to the first that is not there yet. */
  function* above(key: string, make = false): Generator<readonly [string, Node]> {
    let at = nodes.get(key)?.parent
    for (let depth = 0; at !== undefined && depth < DEEPEST; depth += 1) {
      const node = make ? nodeOf(at) : nodes.get(at)
      if (node === undefined) return
      yield [at, node]
      at = node.parent
    }
  }
  const pass = (key: string, below: Below): void => {
    for (const [, node] of above(key, true))
      node.below = { last: below.last, hasContent: below.hasContent || node.below?.hasContent === true }
  }

  return {
    add({ traceId, spanId, parentId }, agent) {
      const key = keyOf(traceId, spanId)
      const node = nodeOf(key)
      if (node.isTold) return false
      node.isTold = true
      if (parentId !== undefined) node.parent = keyOf(traceId, parentId)
      if (agent !== undefined) node.agent = agent
      if (node.below !== undefined) pass(key, node.below)
      return true
    },
    forget(key) {
      const node = nodes.get(key)
      if (node !== undefined) node.isTold = false
    },
    agentsAbove(key) {
      const agents: AgentSpan[] = []
      let top = nodes.get(key)
      for (const [at, node] of above(key)) {
        if (node.agent !== undefined) agents.push({ key: at, ...node.agent })
        top = node
      }
      return { agents, isWhole: top !== undefined && top.isTold && top.parent === undefined }
    },
    count(key, hasContent) {
      const node = nodeOf(key)
      node.isCounted = true
      pass(key, { last: key, hasContent })
    },
    countedBelow: (key) => nodes.get(key)?.below,
    countedAbove(key) {
      for (const [at, node] of above(key)) if (node.isCounted) return at
      return undefined
    },
    isBelow(key, wanted) {
      for (const [at] of above(key)) if (at === wanted) return true
      return false
    },
  }
}
