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
  const open = new Map<string, OpenCall<T>[]>()
  return {
    open(source, call, value) {
      const calls = open.get(source)
      if (calls === undefined) open.set(source, [{ call, value }])
      else calls.push({ call, value })
    },
    answer(source, result) {
      const calls = open.get(source)
      if (calls === undefined) return undefined
      const at = findCall(calls, result)
      return at === -1 ? undefined : calls.splice(at, 1)[0]
    },
    unanswered: () => [...open.values()].flat(),
  }
}

function findCall<T>(calls: readonly OpenCall<T>[], result: ToolResultBlock): number {
  if (result.callId !== undefined) return calls.findIndex(({ call }) => call.callId === result.callId)
  const anonymous = (open: OpenCall<T>): boolean => open.call.callId === undefined
  const named = calls.findIndex((open) => anonymous(open) && open.call.name === result.name)
  if (named !== -1 || result.name !== undefined) return named
  return calls.findIndex(anonymous)
}
