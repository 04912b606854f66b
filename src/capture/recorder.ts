/**
 * Entries in, journal lines and format files out.
 *
 * Promise: a call returns when its entry is with the operating system, so a process that dies a moment later loses nothing. No
 * call throws into the agent: what cannot be written is reported once, counted, and marked in the journal.
 */
import { randomUUID } from 'node:crypto'
import { messageOf } from '../errors.ts'
import { fromTranscriptEntry } from '../formats/weakincentives-parse.ts'
import type { Block, ToolCallBlock, ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, createSequence, type Call, type Entry, type Role } from '../transcript/entry.ts'
import { fromMillis } from '../transcript/instant.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'
import { entriesOfEvent, type TranscriptEvent } from './slices/events.ts'

/** What may be said of any entry beside its content. */
export type Details = {
  readonly model?: string
  readonly usage?: Omit<Usage, 'quality'> & { readonly quality?: Usage['quality'] }
  readonly stopReason?: string
  readonly durationMs?: number
  readonly call?: Call
  readonly metadata?: JsonObject
  /** When it happened, where that is not now. */
  readonly at?: string
  readonly id?: string
}

export type ToolCall = Details & { readonly name: string; readonly input?: Json; readonly callId?: string }

export type ToolResult = Details & {
  readonly callId?: string
  readonly name?: string
  readonly output?: string | readonly Block[]
  readonly error?: string
  readonly isError?: boolean
}

/** Text, or blocks. */
export type Said = string | readonly Block[]

/** Records the entries of one source: the main agent, or a subagent of it. */
export type SourceRecorder = {
  readonly source: string
  system(said: Said, details?: Details): void
  user(said: Said, details?: Details): void
  assistant(said: Said, details?: Details): void
  /** The same for any role. */
  message(role: Role, said: Said, details?: Details): void
  /** Gives the call's id, made when there was none, for `toolResult`. */
  toolCall(call: ToolCall): string
  toolResult(result: ToolResult): void
  error(error: unknown, details?: Details): void
  /** Something that is no message: a compaction, a retry. */
  event(record: string, raw: Json, details?: Details): void
  /** One of weakincentives' events, as the entries it stands for. */
  dispatch(event: TranscriptEvent): void
  subagent(id: string): SourceRecorder
}

export type Intake = {
  /** Takes an entry to the journal and the formats. */
  readonly take: (entry: Entry) => void
  readonly now: () => number
  /** How deep subagents are recorded: 0 none, 1 those of the main agent. */
  readonly depth: number
  /** Told of each subagent too deep to be recorded, once. */
  readonly onTooDeep: (source: string, parent: string) => void
}

/** A recorder for the primary source, from which those of subagents come. */
export function createSourceRecorder(intake: Intake): SourceRecorder {
  const sequence = createSequence()
  const last = new Map<string, string>()
  const recorders = new Map<string, SourceRecorder>()
  const tooDeep = new Set<string>()

  const forSource = (source: string, depth: number, parent: string | undefined): SourceRecorder => {
    const names = createCallNames()
    const records = depth <= intake.depth

    const put = (
      kind: Entry['kind'],
      role: Role | undefined,
      blocks: readonly Block[],
      details: Details,
    ): void => {
      if (!records) return
      const { usage, id = randomUUID(), at = fromMillis(intake.now()), metadata, ...rest } = details
      const before = last.get(source) ?? null
      const tagged =
        parent === undefined || parent === PRIMARY ? metadata : { ...metadata, parentSource: parent }
      last.set(source, id)
      intake.take({
        id,
        parent: before,
        source,
        sequence: sequence(source),
        kind,
        ...(role && { role }),
        ...(at !== undefined && { at }),
        blocks,
        ...defined(rest),
        ...(usage && { usage: { quality: 'reported', ...usage } }),
        ...(tagged && { metadata: tagged }),
      })
    }
    const message = (role: Role, said: Said, details: Details = {}): void => {
      const blocks: readonly Block[] = typeof said === 'string' ? [{ type: 'text', text: said }] : said
      for (const block of blocks) names.learn(block)
      put('message', role, blocks, details)
    }

    return {
      source,
      system: (said, details) => message('system', said, details),
      user: (said, details) => message('user', said, details),
      assistant: (said, details) => message('assistant', said, details),
      message,
      toolCall({ name, input = {}, callId = `call_${randomUUID()}`, ...details }) {
        const block: ToolCallBlock = { type: 'tool-call', callId, name, input }
        message('assistant', [block], details)
        return callId
      },
      toolResult({ callId, name, output, error, isError, ...details }) {
        const tool = name ?? names.take(callId)
        const block: ToolResultBlock = {
          type: 'tool-result',
          ...(callId !== undefined && { callId }),
          ...(tool !== undefined && { name: tool }),
          ...(output !== undefined && { output }),
          ...(error !== undefined && { error }),
          ...((isError ?? error !== undefined) && { isError: true }),
        }
        message('tool', [block], details)
      },
      error: (error, details) => put('message', undefined, [toErrorBlock(error)], details ?? {}),
      event: (record, raw, details = {}) =>
        put('event', undefined, [{ type: 'unknown', raw }], {
          ...details,
          metadata: { ...details.metadata, record },
        }),
      dispatch(event) {
        for (const line of entriesOfEvent(event)) {
          const {
            role = line.role,
            blocks,
            source: _,
            kind: __,
            parent: ___,
            ...details
          } = fromTranscriptEntry(line)
          message(role, blocks, { ...details, id: line.entry_id })
        }
      },
      subagent(id) {
        const child = `subagent:${id}`
        const known = recorders.get(child)
        if (known !== undefined) return known
        const made = forSource(child, depth + 1, source)
        recorders.set(child, made)
        if (depth + 1 > intake.depth && !tooDeep.has(child)) {
          tooDeep.add(child)
          intake.onTooDeep(child, source)
        }
        return made
      },
    }
  }
  return forSource(PRIMARY, 0, undefined)
}

/** Which tool an open call is of, so that a result can name it. Bounded: a call that is never answered is forgotten in time. */
function createCallNames(limit = 1000): {
  learn(block: Block): void
  take(callId: string | undefined): string | undefined
} {
  const names = new Map<string, string>()
  return {
    learn(block) {
      if (block.type !== 'tool-call' || block.callId === undefined) return
      names.set(block.callId, block.name)
      if (names.size > limit) names.delete(names.keys().next().value as string)
    },
    take(callId) {
      if (callId === undefined) return undefined
      const name = names.get(callId)
      names.delete(callId)
      return name
    },
  }
}

function toErrorBlock(error: unknown): Block {
  if (!(error instanceof Error)) return { type: 'error', message: messageOf(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { type: 'error', message: error.message, ...(code !== undefined && { code }) }
}

/** Without the keys whose value is undefined: absent is absent. */
function defined<T extends object>(object: T): T {
  for (const value of Object.values(object)) {
    if (value === undefined) {
      return Object.fromEntries(Object.entries(object).filter(([, one]) => one !== undefined)) as T
    }
  }
  return object
}
