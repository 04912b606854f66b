/** Entries of other formats as lines of a pi session, version 3. */
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { toMillis } from '../transcript/instant.ts'
import type { JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createPairing } from '../transcript/tools.ts'
import type { WriteContext } from './format.ts'
import { partsOf, toResultContent } from './pi-content.ts'
import { isFilled, toPiUsage } from './pi-usage.ts'

export type ForeignLines = {
  /** The header, and the session's name. */
  open(at: string | undefined): JsonObject[]
  of(entry: Entry, context: WriteContext): WrittenLines
  /** The id that an entry's line has. */
  toId(id: string | null): string | null
}

export type WrittenLines = {
  readonly lines: JsonObject[]
  /** The entry's blocks in the order in which they stand there. */
  readonly blocks: readonly Block[]
  /** What only the writer can know. */
  readonly lost: readonly string[]
}

type Options = {
  readonly session: Session
  readonly id: string
  /** The file of the session that started this one. */
  readonly parent: string | undefined
}

/** Calls whose lines may still come: bounds memory. */
const OPEN_CALLS = 1000
const EPOCH = '1970-01-01T00:00:00.000Z'

export function createForeignLines({ session, id, parent }: Options): ForeignLines {
  const pairing = createPairing<string>()
  const callTimes = new Map<string, number>()
  let made = 0
  let now = session.startedAt ?? EPOCH
  let last: string | null = null

  /** Ids that only number entries become ones that are unique in the file; any other is kept. */
  const toId = (of: string | null): string | null =>
    of === null || !/^(?:primary|subagent:.*)\/\d+$/s.test(of) ? of : shortId(id, of)

  const callIdOf = (block: Block, entry: Entry, context: WriteContext): string => {
    made += 1
    context.filled(entry, block.type === 'tool-call' ? 'id' : 'toolCallId')
    return `call_${made}`
  }
  const withCallId = (block: Block, entry: Entry, context: WriteContext): Block => {
    if (block.type === 'tool-call') {
      const callId = block.callId ?? callIdOf(block, entry, context)
      pairing.open(entry.source, block, callId)
      return { ...block, callId, input: block.input ?? {} }
    }
    if (block.type !== 'tool-result') return block
    const answered = pairing.answer(entry.source, block)
    const name = block.name ?? answered?.call.name
    if (name === undefined) context.filled(entry, 'toolName')
    const callId = block.callId ?? answered?.value ?? callIdOf(block, entry, context)
    return { ...block, callId, name: name ?? '' }
  }

  /** Lines of one call have one time, by which pi's lines with the same provider's id are told to be one call. */
  const timeOf = ({ call }: Entry): number => {
    const known = call?.messageId === undefined ? undefined : callTimes.get(call.messageId)
    const time = known ?? toMillis(now)
    if (call?.messageId === undefined || known !== undefined) return time
    callTimes.set(call.messageId, time)
    if (callTimes.size > OPEN_CALLS) callTimes.delete(callTimes.keys().next().value as string)
    return time
  }

  const toLine = (message: JsonObject, lineId: string, above: string | null): JsonObject => {
    last = lineId
    return { type: 'message', id: lineId, parentId: above, timestamp: now, message }
  }

  return {
    toId,
    open(at) {
      now = session.startedAt ?? at ?? EPOCH
      const header: JsonObject = {
        type: 'session',
        version: 3,
        id,
        timestamp: now,
        cwd: session.cwd ?? '',
        ...(parent !== undefined && { parentSession: parent }),
      }
      if (session.title === undefined || parent !== undefined) return [header]
      last = shortId(id, 'name')
      return [header, { type: 'session_info', id: last, parentId: null, timestamp: now, name: session.title }]
    },
    of(entry, context) {
      if (entry.kind === 'event' || entry.role === 'system') {
        return { lines: toSystem(entry), blocks: entry.blocks, lost: [] }
      }
      if (entry.at === undefined) context.filled(entry, 'timestamp')
      now = entry.at ?? now
      const blocks = entry.blocks
        .filter(({ type }) => type !== 'unknown')
        .map((block) => withCallId(asHeld(block, entry), entry, context))
      const groups = groupBlocks(blocks, entry)
      const answer = groups.findLastIndex(([first]) => first?.type !== 'tool-result')
      const lines = groups.map((group, index) => {
        const lineId = index === 0 ? (toId(entry.id) as string) : shortId(id, `${entry.id}\n${index}`)
        const above = index > 0 || entry.parent === undefined ? last : toId(entry.parent)
        const message = toMessage(group, entry, timeOf(entry), index === answer)
        return toLine(message, lineId, above)
      })
      if (entry.role === 'assistant' && groups.length > 0) fillCall(entry, context)
      return { lines, ...asWritten(groups, entry) }
    },
  }

  /** pi's own system prompt is in no file: what others keep of theirs is a message that extensions may add. */
  function toSystem(entry: Entry): JsonObject[] {
    if (entry.kind === 'event') return []
    now = entry.at ?? now
    const above = entry.parent === undefined ? last : toId(entry.parent)
    last = toId(entry.id)
    const said = entry.blocks.filter(({ type }) => type !== 'unknown')
    const line = { type: 'custom_message', id: last, parentId: above, timestamp: now }
    return [{ ...line, customType: 'system', content: partsOf(said), display: true }]
  }
}

const shortId = (...parts: readonly string[]): string =>
  uuidFrom(...parts)
    .replaceAll('-', '')
    .slice(0, 16)

/** Only an answer can say that it failed; elsewhere an error is text. */
function asHeld(block: Block, { role }: Entry): Block {
  return block.type === 'error' && role !== 'assistant' ? { type: 'text', text: block.message } : block
}

/** Every result is a message of its own; what stands between them is one. */
function groupBlocks(blocks: readonly Block[], { role }: Entry): Block[][] {
  const groups: Block[][] = []
  for (const block of blocks) {
    const before = groups.at(-1)
    const isNew = block.type === 'tool-result' || before === undefined || before[0]?.type === 'tool-result'
    if (isNew) groups.push([block])
    else before.push(block)
  }
  // An answer with nothing in it is an answer: it may have cost something.
  return groups.length === 0 && role === 'assistant' ? [[]] : groups
}

/** Of an answer's errors there is one, after all that it says. */
function asWritten(groups: readonly Block[][], { role, blocks }: Entry): Omit<WrittenLines, 'lines'> {
  if (role !== 'assistant') return { blocks, lost: [] }
  const lost = new Set<string>()
  const written = groups.flatMap((group) => {
    const errors = group.filter((block) => block.type === 'error')
    const [error] = errors
    if (error === undefined) return group
    if (errors.length > 1) lost.add('block boundaries')
    if (group.slice(group.indexOf(error)).some(({ type }) => type !== 'error')) {
      lost.add('its place in the order')
    }
    const code = errors.find((one) => one.code !== undefined)?.code
    const message = errors.map((one) => one.message).join('\n')
    const joined: Block = { type: 'error', message, ...(code !== undefined && { code }) }
    return [...group.filter(({ type }) => type !== 'error'), joined]
  })
  const unknown = blocks.filter(({ type }) => type === 'unknown')
  return { blocks: [...unknown, ...written], lost: [...lost] }
}

/** What the call used stands on the last message that is no result. */
function toMessage(blocks: readonly Block[], entry: Entry, timestamp: number, isLast: boolean): JsonObject {
  const [first] = blocks
  if (first?.type === 'tool-result') return toResult(first, timestamp)
  const content = partsOf(blocks)
  if (entry.role !== 'assistant') return { role: 'user', content, timestamp }
  const { call, model, usage, stopReason } = entry
  const errors = blocks.flatMap((block) => (block.type === 'error' ? [block.message] : []))
  const calls = blocks.some(({ type }) => type === 'tool-call')
  return {
    role: 'assistant',
    content,
    api: '',
    provider: call?.provider ?? '',
    model: model ?? '',
    usage: toPiUsage(isLast ? usage : undefined),
    stopReason: stopReason ?? (errors.length > 0 ? 'error' : calls ? 'toolUse' : 'stop'),
    ...(errors.length > 0 && { errorMessage: errors.join('\n') }),
    ...(call?.messageId !== undefined && { responseId: call.messageId }),
    timestamp,
  }
}

function toResult(result: ToolResultBlock, timestamp: number): JsonObject {
  const { callId = '', name = '', isError } = result
  const content = toResultContent(result)
  return {
    role: 'toolResult',
    toolCallId: callId,
    toolName: name,
    content,
    isError: isError === true,
    timestamp,
  }
}

function fillCall(entry: Entry, context: WriteContext): void {
  const { call, model, usage, stopReason } = entry
  context.filled(entry, 'api')
  if (call?.provider === undefined) context.filled(entry, 'provider')
  if (model === undefined) context.filled(entry, 'model')
  if (isFilled(usage)) context.filled(entry, 'usage')
  context.filled(entry, 'usage.cost')
  if (stopReason === undefined) context.filled(entry, 'stopReason')
}
