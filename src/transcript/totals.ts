/**
 * Sums that are right: a provider call is counted once, however many entries mention it, and its last report wins.
 * Entries that name no call are each a call of their own when they carry usage.
 */
import { PRIMARY, type Entry } from './entry.ts'
import type { Totals } from './session.ts'
import { addUsage, hasCounts, type Usage } from './usage.ts'

export type BilledCall = {
  readonly model: string | undefined
  readonly usage: Usage
  readonly at: string | undefined
  readonly provider: string | undefined
}

export type CallFold = {
  add(entry: Entry): void
  /** Settles the calls still open, and gives the totals. The fold can go on after it. */
  totals(): Totals
}

type Options = {
  /** Told of each call once, with its last usage: where cost is added up. */
  readonly settle?: (call: BilledCall) => void
  /** How many calls stay open for a later report: bounds memory in a recorder that never ends. */
  readonly window?: number
}

/** A hostile file may name any number of models. */
const MOST_MODELS = 50

export function createCallFold({ settle, window = Number.POSITIVE_INFINITY }: Options = {}): CallFold {
  const open = new Map<string, BilledCall>()
  let entries = 0
  let toolCalls = 0
  let calls = 0
  let usage: Usage | undefined
  const models = new Set<string>()

  const close = (call: BilledCall): void => {
    calls += 1
    usage = usage === undefined ? withoutRaw(call.usage) : addUsage(usage, call.usage)
    settle?.(call)
  }

  return {
    add(entry) {
      entries += 1
      for (const block of entry.blocks) if (block.type === 'tool-call') toolCalls += 1
      if (entry.model !== undefined && models.size < MOST_MODELS) models.add(entry.model)
      if (entry.usage === undefined || !hasCounts(entry.usage)) return
      const { model, at } = entry
      const call = { model, usage: entry.usage, at, provider: entry.call?.provider }
      const key = callKey(entry)
      if (key === undefined) {
        close(call)
        return
      }
      const first = open.get(key)
      open.delete(key)
      // The call keeps the time and, where the last report names none, the model of its first.
      open.set(key, { ...call, at: first?.at ?? at, model: model ?? first?.model })
      if (open.size > window) {
        const [oldest, settled] = open.entries().next().value as [string, BilledCall]
        open.delete(oldest)
        close(settled)
      }
    },
    totals() {
      for (const call of open.values()) close(call)
      open.clear()
      return {
        entries,
        toolCalls,
        calls,
        ...(models.size > 0 && { models: [...models] }),
        ...(usage && { usage }),
      }
    },
  }
}

/** What makes two reports the same call: the provider's message id, else its request id. Undefined: a call of its own. */
export function callKey({ call, source }: Entry): string | undefined {
  if (call?.messageId !== undefined) return `m:${call.messageId}`
  if (call?.requestId !== undefined) return `r:${source === PRIMARY ? '' : source}:${call.requestId}`
  return undefined
}

function withoutRaw(usage: Usage): Usage {
  const { raw: _, ...counts } = usage
  return counts
}
