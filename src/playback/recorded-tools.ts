/**
 * What tools gave in a recording, given again instead of running them: by the id of the call where it is known, else by the tool's name
 * and what it is asked, each result once and in order. What was not recorded is refused, never run.
 */
import { canonical } from '../replay/matching/canonical.ts'
import { createNormalisers, wayOf } from '../replay/matching/normalisers.ts'
import { contentText, hasFailed, isBlobRef, type Block, type ToolResultBlock } from '../transcript/block.ts'
import { citation } from '../transcript/entry.ts'
import { parseJson, type Json } from '../transcript/json.ts'
import type { Recording } from './recording.ts'

export type RecordedResult = {
  readonly name: string
  readonly text: string
  readonly isError: boolean
  /** The entry that has it. */
  readonly citation: string
}

export type ToolAsked = { readonly name: string; readonly input?: Json; readonly callId?: string }

export type RecordedTools = {
  /** Undefined where the recording has no such call, or no more of it. */
  take(asked: ToolAsked): RecordedResult | undefined
  /** Every tool that was called, in the order of the first call. */
  names(): readonly string[]
}

type Call = RecordedResult & { readonly callId: string; readonly input: Json; isGiven: boolean }

/** Calls that are held; a recording with more has its first ones. */
const MOST_CALLS = 100_000

export async function readTools(
  { sessions }: Pick<Recording, 'sessions'>,
  roots: readonly string[] = [],
): Promise<RecordedTools> {
  const way = wayOf(createNormalisers({ roots: [...roots, ...sessions.flatMap(({ cwd }) => cwd ?? [])] }))
  const asked = new Map<string, { readonly name: string; readonly input: Json }>()
  const calls: Call[] = []
  for (const session of sessions)
    for await (const items of session.read())
      for (const item of items) {
        if (item.type !== 'entry') continue
        for (const block of item.entry.blocks) {
          if (calls.length >= MOST_CALLS) continue
          if (block.type === 'tool-call' && block.callId !== undefined)
            asked.set(block.callId, { name: block.name, input: block.input ?? {} })
          const of =
            block.type === 'tool-result' && block.callId !== undefined ? asked.get(block.callId) : undefined
          if (block.type !== 'tool-result' || of === undefined) continue
          calls.push({
            ...of,
            callId: block.callId ?? '',
            text: textOf(block),
            isError: hasFailed(block),
            citation: citation(session.id, item.entry),
            isGiven: false,
          })
        }
      }
  const give = (call: Call | undefined): RecordedResult | undefined => {
    if (call === undefined) return undefined
    call.isGiven = true
    const { name, text, isError, citation: at } = call
    return { name, text, isError, citation: at }
  }
  return {
    take({ name, input = {}, callId }) {
      const own =
        callId === undefined ? undefined : calls.find((one) => one.callId === callId && one.name === name)
      if (own !== undefined) return give(own)
      const open = calls.filter((one) => one.name === name && !one.isGiven)
      const exact = open.find((one) => canonical(one.input) === canonical(input))
      return give(exact ?? open.find((one) => canonical(one.input, way) === canonical(input, way)))
    },
    names: () => [...new Set(calls.map(({ name }) => name))],
  }
}

/** What a tool gave, as the program that calls it expects it: text, or what was written as text on its way to the provider. */
export function toValue({ text }: RecordedResult): Json {
  return /^\s*[[{]/.test(text) ? (parseJson(text) ?? text) : text
}

function textOf({ output, error }: ToolResultBlock): string {
  if (output === undefined) return error ?? ''
  if (typeof output === 'string' || isBlobRef(output)) return contentText(output)
  return output.map((part: Block) => (part.type === 'text' ? contentText(part.text) : '')).join('')
}
