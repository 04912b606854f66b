/** Takes what a stream's fold tells, as entries that have no place yet: what a recorder is to a live stream, this is to a file. */
import { messageOf } from '../errors.ts'
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, type Role } from '../transcript/entry.ts'
import { parseInstant } from '../transcript/instant.ts'
import type { Session } from '../transcript/session.ts'
import { costOf, toDollars } from './dollars.ts'
import type { Said } from './placing.ts'
import { fromAnswer } from './provider-entries.ts'
import type { StreamDetails, StreamSession, StreamSource } from './stream-session.ts'

export type Sink = {
  readonly session: StreamSession
  /** What was told since the last time. */
  take(): readonly Said[]
  facts(): Partial<Session>
}

/** Calls whose tool a result may still ask for. */
const MOST_CALLS = 1000

export function createSink(id: string): Sink {
  let told: Said[] = []
  let facts: Partial<Session> = {}
  let cost: number | undefined
  const sources = new Map<string, StreamSource>()

  const put = (
    source: string,
    kind: Said['kind'],
    role: Role | undefined,
    blocks: readonly Block[],
    details: StreamDetails = {},
  ): void => {
    const { usage, at, ...others } = details
    const instant = parseInstant(at instanceof Date ? at.getTime() : at)
    if (instant !== undefined) {
      const { startedAt = instant, endedAt = instant } = facts
      facts = {
        ...facts,
        startedAt: instant < startedAt ? instant : startedAt,
        endedAt: instant > endedAt ? instant : endedAt,
      }
    }
    told.push({
      source,
      kind,
      ...(role !== undefined && { role }),
      ...(instant !== undefined && { at: instant }),
      blocks,
      ...others,
      ...(usage !== undefined && { usage: { quality: 'reported', ...usage } }),
    })
  }
  const toSource = (source: string): StreamSource => {
    const known = sources.get(source)
    if (known !== undefined) return known
    const names = new Map<string, string>()
    const message: StreamSource['message'] = (role, said, details) => {
      const blocks: readonly Block[] = typeof said === 'string' ? [{ type: 'text', text: said }] : said
      for (const block of blocks) {
        if (block.type !== 'tool-call' || block.callId === undefined) continue
        names.set(block.callId, block.name)
        if (names.size > MOST_CALLS) names.delete(names.keys().next().value as string)
      }
      put(source, 'message', role, blocks, details)
    }
    const made: StreamSource = {
      source,
      user: (said, details) => message('user', said, details),
      assistant: (said, details) => message('assistant', said, details),
      message,
      answer: (answer, details = {}) => {
        const { kind: _, role: __, blocks, ...said } = fromAnswer(answer)
        message('assistant', blocks, { ...said, ...details })
      },
      toolCall({ name, input = {}, callId, ...details }) {
        const block: Block = { type: 'tool-call', ...(callId !== undefined && { callId }), name, input }
        message('assistant', [block], details)
        return callId ?? ''
      },
      toolResult({ callId, name, output, error, isError, ...details }) {
        const tool = name ?? (callId === undefined ? undefined : names.get(callId))
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
      error: (error, details) =>
        put(source, 'message', undefined, [{ type: 'error', message: messageOf(error) }], details),
      event: (record, raw, details = {}) =>
        put(source, 'event', undefined, [{ type: 'unknown', raw }], {
          ...details,
          metadata: { ...details.metadata, record },
        }),
      subagent: (child) => toSource(`subagent:${child}`),
    }
    sources.set(source, made)
    return made
  }
  return {
    session: {
      ...toSource(PRIMARY),
      id,
      update: (more) => void (facts = { ...facts, ...more }),
      addCost: (usd) => void (cost = (cost ?? 0) + (costOf(usd) ?? 0)),
    },
    take() {
      const taken = told
      told = []
      return taken
    },
    facts: () => ({ ...facts, ...(cost !== undefined && { reportedCost: toDollars(cost) }) }),
  }
}
