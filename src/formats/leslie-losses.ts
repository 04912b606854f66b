/** What leslie's text has no place for at all, of an entry of the primary source. What the limits cut is told where it is cut. */
import { isBlobRef, type Block, type ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { WriteContext } from './format.ts'
import { compareUnits } from './leslie-read.ts'
import { loseEntry, loseEntryFacts, unheldBlock } from './lost-facts.ts'

type Placed = { readonly isFirst: boolean; readonly isMoved: boolean }

/** The time of a unit's first entry is the unit's own; that of others is nowhere. An answer's stop reason is told by its unit. */
export function loseOfEntry(entry: Entry, { isFirst, isMoved }: Placed, context: WriteContext): void {
  const { at, stopReason, blocks } = entry
  const lost = blocks.flatMap((block) => [...blockLosses(block, entry)])
  const parts = blocks.flatMap((block) => readAs(block, entry) ?? [])
  // A unit begins with its query, even an empty one.
  if (parts.length === 0 && !isFirst) {
    return loseEntry(entry, lost.join(', ') || 'it has no blocks', context)
  }
  const queries = isFirst && !parts.some(({ role }) => role === 'user') ? 1 : 0
  const isSame = parts.every(({ kind, role }) => kind === entry.kind && role === entry.role)
  loseEntryFacts(
    entry,
    {
      source: PRIMARY,
      ...(isSame && { kind: entry.kind, ...(entry.role !== undefined && { role: entry.role }) }),
      ...(isFirst && at !== undefined && { at }),
      ...(entry.role === 'assistant' && stopReason !== undefined && { stopReason }),
      metadata: heldMetadata(entry, isFirst),
    },
    context,
    [
      ...lost,
      ...(queries + parts.length > 1 ? ['block boundaries'] : []),
      ...(isMoved ? ['its place in the order'] : []),
    ],
  )
}

type ReadUnit = Pick<Session, 'status'> & {
  readonly path: string
  readonly startedAt: string
  readonly endedAt: string
  readonly stopReason: string | undefined
  readonly error: string | undefined
}

/** The session as its reader will tell it: it begins with the unit that began first and ends with the one that began last. */
export function createReadFold(named: {
  readonly thread: string
  readonly chat: string
  readonly mode: string
}) {
  let first: string | undefined
  let last: ReadUnit | undefined
  return {
    add(unit: ReadUnit): void {
      first = first === undefined || unit.startedAt < first ? unit.startedAt : first
      last = last === undefined || compareUnits(last, unit) < 0 ? unit : last
    },
    isMoved: (startedAt: string): boolean => last !== undefined && startedAt <= last.startedAt,
    /** Undefined as long as there is no file. */
    session(): Partial<Session> | undefined {
      if (first === undefined || last === undefined) return undefined
      const { endedAt, status, stopReason, error } = last
      return {
        ...named,
        id: uuidFrom('leslie', JSON.stringify([named.thread, named.chat])),
        startedAt: first,
        endedAt,
        status,
        ...(stopReason !== undefined && { stopReason }),
        ...(error !== undefined && { error }),
      }
    },
  }
}

/** What the header says is put back; so is what the reader calls an error. */
function heldMetadata({ metadata, kind }: Entry, isFirst: boolean): JsonObject {
  const { leslie, record } = metadata ?? {}
  return {
    ...(isFirst && leslie !== undefined && { leslie }),
    ...(kind === 'event' && record === 'error' && { record }),
  }
}

/** The entry that a block reads back as; undefined for a block that is not written. */
function readAs({ type }: Block, { kind, role }: Entry): Pick<Entry, 'kind' | 'role'> | undefined {
  if (type === 'tool-call') return { kind: 'message', role: 'assistant' }
  if (type === 'tool-result') return { kind: 'message', role: 'tool' }
  if (type === 'error') return { kind: 'event' }
  const isSaid = type === 'text' && kind === 'message' && (role === 'user' || role === 'assistant')
  return isSaid ? { kind, role } : undefined
}

function* blockLosses(block: Block, entry: Entry): Generator<string> {
  if (block.type === 'error') {
    if (block.code !== undefined) yield 'error code'
  } else if (block.type === 'tool-result') yield* resultLosses(block)
  else if (block.type === 'tool-call') {
    if (block.inputBlob !== undefined) yield 'content kept in a blob'
    else if (block.input !== undefined && !readsAsItself(block.input))
      yield 'what kind of value a tool input is'
  } else if (readAs(block, entry) === undefined) yield unheldBlock(block)
  else if (block.type === 'text' && isBlobRef(block.text)) yield 'content kept in a blob'
}

function* resultLosses({ output, error, isError }: ToolResultBlock): Generator<string> {
  if (isError === true || error !== undefined) yield 'that the tool failed'
  if (error !== undefined) yield output === undefined ? 'error kept as output' : 'error beside output'
  if (isBlobRef(output)) yield 'content kept in a blob'
  else if (output !== undefined && typeof output !== 'string') yield 'the blocks of a tool result'
}

/** Parameters are text: JSON of an object or a list is one again, everything else a string. */
function readsAsItself(input: Json): boolean {
  if (typeof input !== 'string') return isObject(input) || Array.isArray(input)
  const value = input === '' ? undefined : parseJson(input)
  return input !== '' && !isObject(value) && !Array.isArray(value)
}
