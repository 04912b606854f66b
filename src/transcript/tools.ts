/**
 * Which result answers which call. By call id within a source; where a format has no ids, or made them useless by redacting
 * them all to one word, by position: the oldest open call of that name, else the oldest open call.
 */
import type { ToolCallBlock, ToolResultBlock } from './block.ts'

export type OpenCall<T> = { readonly call: ToolCallBlock; readonly value: T }

/** Pairs calls with results as they come, one source at a time: `opened` on each call, `answered` on each result. */
export type Pairing<T> = {
  open(source: string, call: ToolCallBlock, value: T): void
  /** The call this result answers, or undefined when there is none open. */
  answer(source: string, result: ToolResultBlock): OpenCall<T> | undefined
  /** Calls that nothing has answered yet, oldest first. */
  unanswered(): OpenCall<T>[]
}

export function createPairing<T>(): Pairing<T> {
  const lanes = new Map<string, Lane<T>>()
  return {
    open(source, call, value) {
      const lane = lanes.get(source) ?? createLane()
      lanes.set(source, lane)
      lane.add({ call, value })
    },
    answer: (source, result) => lanes.get(source)?.take(result),
    unanswered: () => [...lanes.values()].flatMap((lane) => [...lane.open]),
  }
}

type Lane<T> = {
  /** In the order they were opened. */
  readonly open: ReadonlySet<OpenCall<T>>
  add(open: OpenCall<T>): void
  take(result: ToolResultBlock): OpenCall<T> | undefined
}

/** Sets keep order and forget in constant time: a log of a million calls that nobody answered stays linear. */
function createLane<T>(): Lane<T> {
  const open = new Set<OpenCall<T>>()
  const byId = new Map<string, Set<OpenCall<T>>>()
  const anonymous = new Set<OpenCall<T>>()
  const byName = new Map<string, Set<OpenCall<T>>>()

  const groupsOf = (one: OpenCall<T>): [Map<string, Set<OpenCall<T>>>, string] =>
    one.call.callId === undefined ? [byName, one.call.name] : [byId, one.call.callId]

  return {
    open,
    add(one) {
      open.add(one)
      if (one.call.callId === undefined) anonymous.add(one)
      const [groups, key] = groupsOf(one)
      const group = groups.get(key)
      if (group === undefined) groups.set(key, new Set([one]))
      else group.add(one)
    },
    take({ callId, name }) {
      const group =
        callId !== undefined ? byId.get(callId) : name === undefined ? anonymous : byName.get(name)
      const [oldest] = group ?? []
      if (oldest === undefined) return undefined
      open.delete(oldest)
      anonymous.delete(oldest)
      const [groups, key] = groupsOf(oldest)
      const own = groups.get(key)
      own?.delete(oldest)
      if (own?.size === 0) groups.delete(key)
      return oldest
    },
  }
}
