/**
 * What of a transcript swarm's files say, in the terms in which they are read again: the promise of docs/formats/swarm.md. One
 * step execution for each source: its lines, and its receipt.
 */
import { outputText, textOf, type Block, type ToolResultBlock } from '../src/transcript/block.ts'
import { PRIMARY, type Entry } from '../src/transcript/entry.ts'
import { parseInstant } from '../src/transcript/instant.ts'
import type { Json } from '../src/transcript/json.ts'
import { createPairing } from '../src/transcript/tools.ts'
import { createCallFold } from '../src/transcript/totals.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { promptTokens } from '../src/transcript/usage.ts'

export type HeldBySwarm = {
  readonly agentKey: string
  readonly status: 'completed' | 'failed'
  readonly error: string | undefined
  readonly model: string | undefined
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly entries: readonly HeldEntry[]
}

export type HeldEntry = { readonly role: string; readonly at: string; readonly block: Block }

type Called = { readonly at: string | undefined; readonly input: Json }

export function swarmCanHold({ session, entries }: Transcript): HeldBySwarm[] {
  const sources = [...new Set([PRIMARY, ...entries.map(({ source }) => source)])]
  return sources.map((source) => {
    const own = entries.filter((entry) => entry.source === source)
    const isPrimary = source === PRIMARY
    const usage = own.reduce((fold, entry) => (fold.add(entry), fold), createCallFold()).totals().usage
    const prompt = (usage && promptTokens(usage)) ?? 0
    const completion = usage?.output ?? 0
    const isCounted = prompt + completion > 0
    return {
      agentKey: isPrimary ? (session.run?.agentKey ?? 'unknown') : source.replace('subagent:', ''),
      status: session.status === 'completed' ? 'completed' : 'failed',
      error: session.status === 'completed' ? undefined : (session.error ?? session.status),
      model: session.model ?? own.find(({ model }) => model !== undefined)?.model,
      prompt: isCounted ? prompt : undefined,
      completion: isCounted ? completion : undefined,
      entries: toHeld(own, isPrimary ? session.startedAt : undefined),
    }
  })
}

/** Calls stand where their results do, and unanswered ones at the end. */
function toHeld(entries: readonly Entry[], since: string | undefined): HeldEntry[] {
  const held: HeldEntry[] = []
  const calls = createPairing<Called>()
  let latest = since
  const time = (at: string | undefined): string =>
    parseInstant(at ?? latest ?? '1970-01-01T00:00:00Z') as string
  const tool = (at: string, name: string, input: Json, result: ToolResultBlock | undefined): void => {
    held.push({ role: 'assistant', at, block: { type: 'tool-call', name, input } })
    if (result === undefined) return
    held.push({ role: 'tool', at, block: { type: 'tool-result', name, output: outputText(result) } })
  }
  for (const { at, role = 'system', source, blocks } of entries) {
    for (const block of blocks) {
      if (block.type === 'text')
        held.push({ role, at: time(at), block: { type: 'text', text: textOf([block]) } })
      if (block.type === 'error') {
        held.push({ role, at: time(at), block: { type: 'text', text: block.message } })
      }
      if (block.type === 'tool-call') calls.open(source, block, { at, input: block.input ?? {} })
      if (block.type !== 'tool-result') continue
      const open = calls.answer(source, block)
      tool(
        time(open?.value.at ?? at),
        open?.call.name ?? block.name ?? 'unknown',
        open?.value.input ?? {},
        block,
      )
    }
    latest = at ?? latest
  }
  for (const { call, value } of calls.unanswered()) tool(time(value.at), call.name, value.input, undefined)
  return held
}
