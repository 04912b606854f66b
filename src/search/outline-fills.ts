/** What fills a session's context, in characters by what it is: an estimate, for providers count tokens of the whole only. */
import {
  contentText,
  isBlobRef,
  outputText,
  type Block,
  type Content,
  type ToolCallBlock,
} from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'

export type Fill = { readonly what: string; readonly characters: number }

export type FillsFold = {
  add(entry: Entry): void
  /** One that was counted before: its calls are what later results are of. */
  see(entry: Entry): void
  end(): readonly Fill[]
}

/** A hostile file may name any number of tools. */
const MOST = 200
const REMEMBERED = 10_000

export function createFills(from: readonly Fill[] = []): FillsFold {
  const fills = new Map<string, number>(from.map(({ what, characters }) => [what, characters]))
  const names = new Map<string, string>()
  const put = (what: string, characters: number): void => {
    if (characters === 0) return
    const known = fills.get(what)
    const name = known !== undefined || fills.size < MOST ? what : OTHERS
    fills.set(name, (fills.get(name) ?? 0) + characters)
  }
  const remember = ({ source }: Entry, { name, callId }: ToolCallBlock): string => {
    const short = name.slice(0, 200)
    if (callId !== undefined) names.set(`${source}\n${callId}`, short)
    if (names.size > REMEMBERED) names.delete(names.keys().next().value as string)
    return short
  }
  const take = (entry: Entry, block: Block): void => {
    switch (block.type) {
      case 'text':
        return put(entry.role ?? entry.kind, lengthOf(block.text))
      case 'thinking':
        return put('thinking', lengthOf(block.text))
      case 'tool-call': {
        const name = remember(entry, block)
        const input = block.inputBlob?.bytes ?? (block.input === undefined ? 0 : toJson(block.input).length)
        return put(`call ${name}`, input)
      }
      case 'tool-result': {
        const known = block.callId === undefined ? undefined : names.get(`${entry.source}\n${block.callId}`)
        const name = block.name ?? known ?? 'a tool'
        const size = isBlobRef(block.output) ? block.output.bytes : outputText(block).length
        return put(`output ${name.slice(0, 200)}`, size + (block.error?.length ?? 0))
      }
      case 'image':
      case 'error':
      case 'unknown':
    }
  }
  return {
    add(entry) {
      if (entry.kind === 'message') for (const block of entry.blocks) take(entry, block)
    },
    see(entry) {
      for (const block of entry.blocks) if (block.type === 'tool-call') remember(entry, block)
    },
    end: () =>
      [...fills]
        .map(([what, characters]) => ({ what, characters }))
        .sort((a, b) => b.characters - a.characters),
  }
}

const OTHERS = 'other tools'

function lengthOf(content: Content): number {
  return isBlobRef(content) ? content.bytes : contentText(content).length
}
