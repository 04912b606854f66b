/**
 * Entries in, journal lines and format files out.
 *
 * Promise: a call returns when its entry is with the operating system, so a process that dies a moment later loses nothing. No
 * call throws into the agent: what cannot be written is reported once, counted, and marked in the journal.
 */
import { randomUUID } from 'node:crypto'
import { fromTranscriptEntry } from '../formats/weakincentives-parse.ts'
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, ROLES, createSequence, type Call, type Entry, type Role } from '../transcript/entry.ts'
import { fromMillis, parseInstant } from '../transcript/instant.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'
import { isCutOff, type WireMessage } from '../wire/message.ts'
import type { Reporter } from './report.ts'
import { toAnswerDetails, toBlocks, toErrorBlock } from './said.ts'
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
  readonly at?: string | Date
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

/** Text, or blocks: our own, or Anthropic's as its API gives them. */
export type Said = string | readonly Block[]

/** Records the entries of one source: the main agent, or a subagent of it. */
export type SourceRecorder = {
  readonly source: string
  readonly system: (said: Said, details?: Details) => void
  readonly user: (said: Said, details?: Details) => void
  readonly assistant: (said: Said, details?: Details) => void
  /** The same for any role. A role that there is not is reported, and its message recorded as an event. */
  readonly message: (role: Role, said: Said, details?: Details) => void
  /** A provider's answer as `parseMessage` or a reassembled stream gives it: blocks, model, usage, stop reason, error. */
  readonly answer: (answer: WireMessage, details?: Details) => void
  /** Gives the call's id, made when there was none, for `toolResult`. */
  readonly toolCall: (call: ToolCall) => string
  readonly toolResult: (result: ToolResult) => void
  readonly error: (error: unknown, details?: Details) => void
  /** Something that is no message: a compaction, a retry. */
  readonly event: (record: string, raw: Json, details?: Details) => void
  /** One of weakincentives' events, as the entries it stands for. */
  readonly dispatch: (event: TranscriptEvent) => void
  readonly subagent: (id: string) => SourceRecorder
}

export type Intake = {
  /** Takes an entry to the journal and the formats. `isCut`: it is an answer that broke off. */
  readonly take: (entry: Entry, isCut?: boolean) => void
  readonly now: () => number
  /** How deep subagents are recorded: 0 none, 1 those of the main agent. */
  readonly depth: number
  readonly report: Pick<Reporter, 'guard' | 'misuse'>
}

/** A recorder for the primary source, from which those of subagents come. */
export function createSourceRecorder({ take, now, depth: deepest, report }: Intake): SourceRecorder {
  const sequence = createSequence()
  const last = new Map<string, string>()
  const recorders = new Map<string, SourceRecorder>()

  const toInstant = (at: unknown): string => {
    const given = parseInstant(at instanceof Date ? at.getTime() : at)
    if (given === undefined && at !== undefined)
      report.misuse('an entry’s time is not an instant: it was given the time of recording')
    return given ?? fromMillis(now()) ?? new Date().toISOString()
  }

  const forSource = (source: string, depth: number, parent: string | undefined): SourceRecorder => {
    const names = createCallNames()

    const put = (
      kind: Entry['kind'],
      role: Role | undefined,
      blocks: readonly Block[],
      details: Details | null = {},
      isCut = false,
    ): void => {
      if (depth > deepest) return
      const { usage, id = randomUUID(), at, metadata, ...rest } = details ?? {}
      const before = last.get(source) ?? null
      const tagged =
        parent === undefined || parent === PRIMARY ? metadata : { ...metadata, parentSource: parent }
      last.set(source, id)
      const entry: Entry = {
        id,
        parent: before,
        source,
        sequence: sequence(source),
        kind,
        ...(role && { role }),
        at: toInstant(at),
        blocks,
        ...defined(rest),
        ...(usage && { usage: { quality: 'reported', ...usage } }),
        ...(tagged && { metadata: tagged }),
      }
      take(entry, isCut)
    }
    const message = (role: Role, said: Said, details?: Details, isCut?: boolean): void => {
      const blocks = toBlocks(said)
      for (const block of blocks) names.learn(block)
      if (ROLES.includes(role)) return put('message', role, blocks, details, isCut)
      const named = typeof role === 'string' ? role.slice(0, 100) : typeof role
      report.misuse(`there is no role ${JSON.stringify(named)}: its message is recorded as an event`)
      put('event', undefined, blocks, {
        ...details,
        metadata: { ...details?.metadata, record: 'message', role: named },
      })
    }

    const recorder: SourceRecorder = {
      source,
      system: (said, details) => message('system', said, details),
      user: (said, details) => message('user', said, details),
      assistant: (said, details) => message('assistant', said, details),
      message,
      answer(answer, details) {
        message('assistant', answer.blocks, { ...toAnswerDetails(answer), ...details }, isCutOff(answer))
        if (answer.error !== undefined) recorder.error(answer.error)
      },
      toolCall({ name, input = {}, callId = `call_${randomUUID()}`, ...details }) {
        message('assistant', [{ type: 'tool-call', callId, name, input }], details)
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
      error: (error, details) => put('message', undefined, [toErrorBlock(error)], details),
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
        // The same name below another agent may be at another depth.
        const key = `${source}\n${child}`
        const known = recorders.get(key)
        if (known !== undefined) return known
        const made = forSource(child, depth + 1, source)
        recorders.set(key, made)
        // Too deep to be recorded: counted and named, once, where it can be seen.
        if (depth + 1 > deepest) primary.event('subagent-not-recorded', { source: child, parent: source })
        return made
      },
    }
    return guarded(recorder, report)
  }
  const primary = forSource(PRIMARY, 0, undefined)
  return primary
}

/** The same recorder, whose calls report instead of throwing whatever they are given. A tool call has an id all the same. */
function guarded(recorder: SourceRecorder, { guard }: Pick<Reporter, 'guard'>): SourceRecorder {
  return {
    source: recorder.source,
    system: guard('a system prompt', recorder.system),
    user: guard('a user message', recorder.user),
    assistant: guard('an answer', recorder.assistant),
    message: guard('a message', recorder.message),
    answer: guard('an answer', recorder.answer),
    toolCall(call) {
      let id = call?.callId ?? `call_${randomUUID()}`
      guard('a tool call', () => {
        id = recorder.toolCall({ ...call, callId: id })
      })()
      return id
    },
    toolResult: guard('a tool result', recorder.toolResult),
    error: guard('an error', recorder.error),
    event: guard('an event', recorder.event),
    dispatch: guard('an event', recorder.dispatch),
    subagent: recorder.subagent,
  }
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

/** Without the keys whose value is undefined: absent is absent. */
function defined<T extends object>(object: T): T {
  for (const value of Object.values(object)) {
    if (value === undefined) {
      return Object.fromEntries(Object.entries(object).filter(([, one]) => one !== undefined)) as T
    }
  }
  return object
}
