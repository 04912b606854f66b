/**
 * What of a transcript leslie's files say, in the terms in which they are read again: the promise of docs/formats/leslie.md.
 * Exact for texts that hold none of leslie's marks after an empty line, and for units below 20 KB.
 */
import { outputText, textOf, type Block } from '../src/transcript/block.ts'
import { PRIMARY, type Entry } from '../src/transcript/entry.ts'
import type { Json } from '../src/transcript/json.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { parseJson, toSpacedJson } from '../src/transcript/json.ts'
import { truncate } from '../src/formats/leslie-unit.ts'

export type HeldByLeslie = {
  readonly status: string
  readonly error: string | undefined
  readonly thread: string | undefined
  readonly chat: string | undefined
  readonly mode: string
  /** Each unit's blocks with the role they are read with; units in no order, for clocks may disagree with it. */
  readonly units: readonly string[]
}

type Held = { readonly role: string | undefined; readonly block: Block }

export function leslieCanHold({ session, entries }: Transcript): HeldByLeslie {
  const units: Held[][] = []
  const names = new Map<string, string>()
  for (const entry of entries.filter(({ source }) => source === PRIMARY)) {
    if (entry.role === 'user')
      units.push([{ role: 'user', block: { type: 'text', text: textOf(entry.blocks) } }])
    units.at(-1)?.push(...entry.blocks.flatMap((block) => hold(entry, block, names)))
  }
  const isOver = session.status !== 'completed' && session.error !== undefined && units.length > 0
  const last = units.at(-1)?.at(-1)?.block
  const said = last?.type === 'error' ? last.message : undefined
  if (isOver && said !== session.error) {
    units.at(-1)?.push({ role: undefined, block: { type: 'error', message: session.error } })
  }
  return {
    status: session.status,
    error: session.status === 'completed' ? undefined : isOver ? session.error : said,
    thread: session.thread,
    chat: session.chat,
    mode: session.mode ?? 'agent',
    units: units.map((unit) => JSON.stringify(unit)).sort(),
  }
}

/** The same shape, from what was read. */
export function heldUnits(entries: readonly Entry[]): readonly string[] {
  const units: Held[][] = []
  for (const entry of entries) {
    if (entry.metadata?.['leslie'] !== undefined) units.push([])
    units.at(-1)?.push({ role: entry.role, block: entry.blocks[0] as Block })
  }
  return units.map((unit) => JSON.stringify(unit)).sort()
}

function hold(entry: Entry, block: Block, names: Map<string, string>): Held[] {
  if (block.type === 'text') return entry.role === 'assistant' ? [{ role: 'assistant', block }] : []
  if (block.type === 'error') return [{ role: undefined, block: { type: 'error', message: block.message } }]
  if (block.type === 'tool-call') {
    if (block.callId !== undefined) names.set(block.callId, block.name)
    const text = truncate(toSpacedJson(block.input))
    const whole = parseJson(text)
    const input: Json = typeof whole === 'object' && whole !== null ? whole : text
    return [{ role: 'assistant', block: { type: 'tool-call', name: block.name, input } }]
  }
  if (block.type !== 'tool-result') return []
  const name = block.name ?? names.get(block.callId ?? '') ?? 'unknown'
  return [{ role: 'tool', block: { type: 'tool-result', name, output: truncate(outputText(block)) } }]
}
