/** Tools that were called and have not answered yet: who called them, so that what they give goes to the same source. */
import type { Block } from '../../transcript/block.ts'
import { toJson, type Json } from '../../transcript/json.ts'
import type { Voice } from './conversation.ts'

export type OpenTool = { readonly voice: Voice; readonly callId: string; readonly name: string }

export type OpenTools = {
  readonly learn: (voice: Voice, blocks: readonly Block[]) => void
  /** By the call's id; without one, the oldest open call of this tool with this input, as tools are run in order. */
  take(wanted: {
    readonly callId?: string
    readonly name?: string
    readonly input?: Json
  }): OpenTool | undefined
}

/** `most`: calls that are never answered are forgotten in time. */
export function createOpenTools(most: number): OpenTools {
  const open = new Map<string, OpenTool & { readonly input: Json | undefined }>()
  const idOf = (name: string | undefined, input: Json | undefined): string | undefined => {
    const wanted = input === undefined ? undefined : toJson(input)
    for (const [callId, tool] of open)
      if (tool.name === name && (wanted === undefined || toJson(tool.input ?? null) === wanted)) return callId
    return undefined
  }
  return {
    learn(voice, blocks) {
      for (const block of blocks) {
        if (block.type !== 'tool-call' || block.callId === undefined) continue
        const { callId, name, input } = block
        open.set(callId, { voice, callId, name, input })
        if (open.size > most) open.delete(open.keys().next().value as string)
      }
    },
    take({ callId, name, input }) {
      const id = callId ?? idOf(name, input)
      const found = id === undefined ? undefined : open.get(id)
      if (found !== undefined) open.delete(found.callId)
      return found
    },
  }
}
