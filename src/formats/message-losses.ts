/** What a list of messages does not hold of an entry, told by what was written for it, read back: in the words of `lost-facts`. */
import { contentText, hasBlob, type Block, type ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import type { WriteContext } from './format.ts'
import { loseEntryFacts, unheldBlock, type HeldEntry } from './lost-facts.ts'
import type { Said } from './placing.ts'

export type ReadAgain = {
  /** The messages that the entry became, as the reader gives them. */
  readonly read: readonly Said[]
  /** The name of the tool that a result answers, where its call has it. */
  readonly toolOf: (result: ToolResultBlock) => string | undefined
  readonly others?: readonly string[]
}

export function loseByReadingAgain(
  entry: Entry,
  { read, toolOf, others = [] }: ReadAgain,
  context: WriteContext,
): void {
  const [first] = read
  const blocks = read.flatMap((one) => one.blocks)
  const isOneRole = entry.role !== undefined && read.every(({ role }) => role === entry.role)
  const held: HeldEntry = {
    kind: 'message',
    source: PRIMARY,
    callIds: true,
    ...(isOneRole && { role: entry.role }),
    ...(first?.id !== undefined && { id: first.id }),
    ...(first?.at !== undefined && { at: first.at }),
    ...(first?.model !== undefined && { model: first.model }),
    ...(first?.call !== undefined && { call: first.call }),
    ...pickUsage(read),
    ...(first?.metadata !== undefined && { metadata: first.metadata }),
  }
  const lost = [...blockLosses(entry.blocks, blocks, toolOf), ...others]
  if (read.length > 1) lost.push('block boundaries')
  loseEntryFacts(entry, held, context, lost)
}

function pickUsage(read: readonly Said[]): HeldEntry {
  const usage = read.find((one) => one.usage !== undefined)?.usage
  return usage === undefined ? {} : { usage }
}

/** Blocks in order: one that is of another type was not understood, or is said in other words. */
export function* blockLosses(
  blocks: readonly Block[],
  read: readonly Block[],
  toolOf: ReadAgain['toolOf'],
): Generator<string> {
  let at = 0
  for (const block of blocks) {
    const found = read[at]
    if (hasBlob(block)) yield 'content kept in a blob'
    if (found !== undefined && isErrorAsText(block, found)) {
      at += 1
      yield 'error kept as text'
      if (block.type === 'error' && block.code !== undefined) yield 'error code'
    } else if (found === undefined || found.type !== block.type) yield unheldBlock(block)
    else {
      at += 1
      yield* fieldLosses(block, found, toolOf)
    }
  }
}

const isErrorAsText = (block: Block, found: Block): boolean =>
  block.type === 'error' && found.type === 'text' && contentText(found.text) === block.message

function* fieldLosses(block: Block, found: Block, toolOf: ReadAgain['toolOf']): Generator<string> {
  const read = new Map<string, unknown>(Object.entries(found))
  for (const [key, value] of Object.entries(block)) {
    if (value === undefined || toJson(read.get(key) ?? null) === toJson(value)) continue
    if (block.type === 'tool-result') yield* resultLoss(block, key, read, toolOf)
    else yield WORDS.get(`${block.type} ${key}`) ?? `${block.type} ${key}`
  }
}

function* resultLoss(
  result: ToolResultBlock,
  key: string,
  read: ReadonlyMap<string, unknown>,
  toolOf: ReadAgain['toolOf'],
): Generator<string> {
  // A result that is no error is one that says nothing of it; one without a name is named by its call.
  if (key === 'isError' ? result.isError !== true : key === 'name' && toolOf(result) === result.name) return
  if (key === 'isError') yield 'that the tool failed'
  else if (key === 'name') yield 'tool name'
  else if (key === 'error') yield result.output === undefined ? 'error kept as output' : 'error beside output'
  else if (key === 'output' && read.has('error')) yield 'output of a failed tool kept as its error'
  else yield WORDS.get(key) ?? `tool-result ${key}`
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['callId', 'tool call id'],
  ['tool-call callId', 'tool call id'],
  ['tool-call name', 'tool name'],
  ['text text', 'text'],
  ['image data', 'an image'],
  ['image url', 'an image'],
  ['image mediaType', 'an image'],
])
