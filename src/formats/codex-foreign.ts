/** Entries of other formats as lines of a rollout: items in envelopes, and the events that Codex writes around them. */
import type { Block } from '../transcript/block.ts'
import { textOf } from '../transcript/block.ts'
import type { Entry, Role } from '../transcript/entry.ts'
import { asObject, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createPairing } from '../transcript/tools.ts'
import { callKey } from '../transcript/totals.ts'
import { addUsage, COUNTS, hasCounts, type Usage } from '../transcript/usage.ts'
import { fromItem, toItem } from './codex-items.ts'
import { toItemLine } from './codex-lines.ts'
import { toCodexCounts } from './codex-usage.ts'
import type { WriteContext } from './format.ts'

export type ForeignLines = {
  /** The first lines: whose thread it is, and what it is called. */
  open(at: string | undefined, version: string): JsonObject[]
  /** `lost` is what only the writer can know: results whose tool no call names. */
  of(entry: Entry, context: WriteContext): { readonly lines: JsonObject[]; readonly lost: readonly string[] }
  /** The last word: how the thread ended, and when. */
  close(session: Session): JsonObject[]
}

type Options = {
  readonly session: Session
  readonly thread: string
  /** The thread that started this one, and what it calls it. */
  readonly parent?: { readonly thread: string; readonly name: string }
}

const EPOCH = '1970-01-01T00:00:00.000Z'

export function createForeignLines({ session, thread, parent }: Options): ForeignLines {
  const pairing = createPairing<string>()
  let made = 0
  let model: string | undefined
  let total: Usage | undefined
  const told = createToldCalls()
  let now = session.startedAt ?? EPOCH

  /** Codex pairs calls and results by id: those that have none get one. */
  const withCallId = (block: Block, entry: Entry, context: WriteContext, lost: string[]): Block => {
    if (block.type !== 'tool-call' && block.type !== 'tool-result') return block
    const answered = block.type === 'tool-result' ? pairing.answer(entry.source, block) : undefined
    if (block.type === 'tool-result' && block.name !== undefined && block.name !== answered?.call.name) {
      lost.push('tool name')
    }
    let callId = block.callId ?? answered?.value
    if (callId === undefined) {
      made += 1
      callId = `call_${made}`
    }
    if (block.callId === undefined) context.filled(entry, 'call_id')
    if (block.type === 'tool-call') pairing.open(entry.source, block, callId)
    return { ...block, callId }
  }

  return {
    open(at, version) {
      now = session.startedAt ?? at ?? EPOCH
      const meta = toMeta(session, { thread, parent, now, version })
      const { title } = session
      const named = { type: 'thread_name_updated', thread_id: thread, thread_name: title ?? '' }
      return [
        { timestamp: now, type: 'session_meta', payload: meta },
        ...(title !== undefined && parent === undefined ? [toEvent(now, named)] : []),
        // What a subagent says before its first turn passes for its parent's.
        ...(parent === undefined ? [] : [toEvent(now, { type: 'task_started' })]),
      ]
    },
    of(entry, context) {
      if (entry.at === undefined) context.filled(entry, 'timestamp')
      now = entry.at ?? now
      const lines: JsonObject[] = []
      const lost: string[] = []
      if (entry.model !== undefined && entry.model !== model) {
        model = entry.model
        lines.push(toTurn(now, session, model))
      }
      if (entry.kind === 'message') {
        const blocks = entry.blocks.map((block) => withCallId(block, entry, context, lost))
        for (const group of groupBlocks(blocks)) lines.push(...toLines(group, entry.role, now))
      }
      const { usage } = entry
      if (usage === undefined || !hasCounts(usage)) return { lines, lost }
      // With nothing that the model said, the count would pass for that of the call before.
      if (!lines.some(isAssistant)) lines.push(toEvent(now, { type: 'task_started' }))
      if (REQUIRED.some((count) => usage[count] === undefined)) context.filled(entry, 'usage')
      const more = told.add(entry, usage)
      total = total === undefined ? more : addUsage(total, more)
      lines.push(toCount(now, total, more))
      return { lines, lost }
    },
    close({ status, endedAt }) {
      const isAborted = status === 'interrupted' || status === 'canceled'
      const end = isAborted
        ? { type: 'turn_aborted', reason: 'interrupted' }
        : { type: 'task_complete', last_agent_message: null }
      return [toEvent(endedAt ?? now, end)]
    },
  }
}

/** Calls that may still be reported again: bounds memory. */
const OPEN_CALLS = 1000

/** What a report of a call adds to those before it: other formats repeat a call's usage on each of its records. */
function createToldCalls(): { add(entry: Entry, usage: Usage): Usage } {
  const calls = new Map<string, Usage>()
  return {
    add(entry, usage) {
      const key = callKey(entry)
      if (key === undefined) return usage
      const before = calls.get(key)
      calls.set(key, before === undefined ? usage : { ...before, ...usage })
      if (calls.size > OPEN_CALLS) calls.delete(calls.keys().next().value as string)
      if (before === undefined) return usage
      const more: { -readonly [K in keyof Usage]: Usage[K] } = { quality: usage.quality }
      for (const count of COUNTS) {
        const now = usage[count]
        // A total cannot fall: what was told too much stays told.
        if (now !== undefined) more[count] = Math.max(0, now - (before[count] ?? 0))
      }
      return more
    },
  }
}

/** A line for an event. */
export function toEvent(timestamp: string, payload: JsonObject): JsonObject {
  return { timestamp, type: 'event_msg', payload }
}

function isAssistant({ payload }: JsonObject): boolean {
  return fromItem(asObject(payload) ?? {})?.role === 'assistant'
}

/** Counts that Codex's own records always have. */
const REQUIRED: readonly (typeof COUNTS)[number][] = ['input', 'cacheRead', 'output', 'reasoning']

type MetaOptions = {
  readonly thread: string
  readonly parent: Options['parent'] | undefined
  readonly now: string
  readonly version: string
}

function toMeta(
  { cwd, git, version }: Session,
  { thread, parent, now, version: ours }: MetaOptions,
): JsonObject {
  const spawn = parent && { parent_thread_id: parent.thread, depth: 1, agent_nickname: parent.name }
  return {
    id: thread,
    timestamp: now,
    cwd: cwd ?? '',
    originator: 'hansard',
    cli_version: version ?? ours,
    source: spawn === undefined ? 'cli' : { subagent: { thread_spawn: spawn } },
    ...(git !== undefined && {
      git: {
        ...(git.commit !== undefined && { commit_hash: git.commit }),
        ...(git.branch !== undefined && { branch: git.branch }),
        ...(git.remote !== undefined && { repository_url: git.remote }),
      },
    }),
  }
}

function toTurn(timestamp: string, { cwd }: Session, model: string): JsonObject {
  const payload = {
    cwd: cwd ?? '',
    approval_policy: 'never',
    sandbox_policy: { type: 'read-only' },
    model,
    summary: 'auto',
  }
  return { timestamp, type: 'turn_context', payload }
}

/** One group for each item: texts and images that follow each other share a message, every other block stands alone. */
function groupBlocks(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = []
  for (const block of blocks) {
    const last = groups.at(-1)
    if (last?.[0] !== undefined && isContent(block) && isContent(last[0])) last.push(block)
    else groups.push([block])
  }
  return groups
}

const isContent = ({ type }: Block): boolean => type === 'text' || type === 'image'

/** What nobody understood has no place among Codex's items. */
function toLines(blocks: readonly Block[], role: Role | undefined, at: string): JsonObject[] {
  const [first] = blocks
  if (first === undefined || first.type === 'unknown') return []
  if (first.type === 'error') {
    const { message, code } = first
    return [toEvent(at, { type: 'error', message, ...(code !== undefined && { codex_error_info: code }) })]
  }
  const speaker = role === 'tool' ? 'user' : role
  const line = toItemLine(toItem(speaker, blocks), at)
  if (!isContent(first)) return [line]
  const message = textOf(blocks)
  if (speaker === 'user') return [line, toEvent(at, { type: 'user_message', message, images: [] })]
  return speaker === 'assistant' ? [toEvent(at, { type: 'agent_message', message }), line] : [line]
}

function toCount(timestamp: string, total: Usage, last: Usage): JsonObject {
  const info = {
    total_token_usage: toCodexCounts(total),
    last_token_usage: toCodexCounts(last),
    model_context_window: null,
  }
  return toEvent(timestamp, { type: 'token_count', info, rate_limits: null })
}
