/**
 * Which result answers which call, as `transcript/tools.ts` has it, in bounded memory: of calls that nothing answers, the oldest are
 * let go.
 */
import type { ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY } from '../transcript/entry.ts'
import { heldId, heldName } from '../transcript/held-text.ts'

export type OpenCalls<T> = {
  open(source: string, callId: string | undefined, name: string, value: T): void
  answer(source: string, result: ToolResultBlock): T | undefined
}

const MOST_OPEN = 10_000

type Waiting<T> = { readonly name: string; readonly value: T }
type Group<T> = Waiting<T> | Waiting<T>[]

export function createOpenCalls<T>(): OpenCalls<T> {
  /** By source and id; those without an id by source alone. Ids that are no ids are given to several calls. */
  const waiting = new Map<string, Group<T>>()
  let size = 0
  /** `name`: of the tool that is answered, where it has to be that one. */
  const take = (key: string, name: string | undefined): T | undefined => {
    const group = waiting.get(key)
    if (group === undefined) return undefined
    if (!Array.isArray(group)) {
      if (name !== undefined && group.name !== name) return undefined
      waiting.delete(key)
      size -= 1
      return group.value
    }
    const at = group.findIndex((one) => name === undefined || one.name === name)
    if (at === -1) return undefined
    size -= 1
    const [one] = group.splice(at, 1)
    if (group.length === 0) waiting.delete(key)
    return one?.value
  }
  /** Half at a time: to find the oldest of a map that others were taken from takes as long as there were others. */
  const forgetHalf = (): void => {
    for (const [oldest, all] of waiting) {
      const enough = size - MOST_OPEN / 2
      if (enough <= 0) return
      size -= Array.isArray(all) ? all.splice(0, enough).length : 1
      if (!Array.isArray(all) || all.length === 0) waiting.delete(oldest)
    }
  }
  return {
    open(source, callId, name, value) {
      const key = keyOf(source, callId)
      const group = waiting.get(key)
      const one = { name: heldName(name), value }
      if (group === undefined) waiting.set(key, one)
      else if (Array.isArray(group)) group.push(one)
      else waiting.set(key, [group, one])
      size += 1
      if (size > MOST_OPEN) forgetHalf()
    },
    answer(source, { callId, name }) {
      const isByName = callId === undefined && name !== undefined
      return take(keyOf(source, callId), isByName ? heldName(name) : undefined)
    },
  }
}

/** The main agent's calls go by their id alone, as nearly all do; all others have the end of a line in their key. */
function keyOf(source: string, callId: string | undefined): string {
  if (callId === undefined) return `\n${heldId(source)}`
  const id = heldId(callId)
  return source === PRIMARY && !id.includes('\n') ? id : `${heldId(source)}\n${id}`
}
