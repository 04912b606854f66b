/** What a session was and came to, to be put beside another: what `list` says of it, its tools, its files, and devflow's turns. */
import { createHash } from 'node:crypto'
import { hasFailed, textOf } from '../../transcript/block.ts'
import type { Entry } from '../../transcript/entry.ts'
import { sessionUsd } from '../../transcript/session-amounts.ts'
import type { Session } from '../../transcript/session.ts'
import type { Quality } from '../../transcript/usage.ts'
import { filesIn, wayOf, type Way } from '../../transcript/tool-files.ts'
import { sessionMillis, sessionTokens } from '../amounts.ts'
import { runName } from '../devflow-view.ts'
import { sumQuality } from '../marks.ts'
import { createTurnFold, type ShownTurn } from '../turns.ts'

export type SessionFacts = {
  readonly id: string
  /** What devflow calls it. */
  readonly run: string
  readonly title?: string
  readonly agent?: string
  readonly models: readonly string[]
  readonly status: Session['status']
  readonly error?: string
  readonly stopReason?: string
  readonly startedAt?: string
  readonly durationMs?: number
  readonly entries: number
  readonly turns: number
  readonly tokensIn?: number
  readonly tokensOut?: number
  /** Of the tokens, and of the cost; absent where nothing is known, and of a cost that the source states. */
  readonly quality?: Quality
  readonly cost?: Session['reportedCost'] | null
  readonly costQuality?: Quality
  readonly toolCalls: number
  readonly toolsFailed: number
  /** What was said last. */
  readonly lastAnswer?: string
}

export type ToolFacts = { readonly calls: number; readonly failed: number }

/** A turn as devflow compares it. */
export type TurnFacts = { readonly role: string; readonly chars: number; readonly hash: string }

export type FactsFold = {
  add(entry: Entry): void
  end(session: Session): Digest
}

export type Digest = {
  readonly session: Session
  readonly facts: SessionFacts
  readonly tools: ReadonlyMap<string, ToolFacts>
  readonly files: ReadonlyMap<string, ReadonlySet<Way>>
  readonly turns: readonly TurnFacts[]
}

/** Of a hostile session: names and files past this are counted and not named. */
const MOST_NAMES = 10_000

export function createFactsFold(): FactsFold {
  const tools = new Map<string, { calls: number; failed: number }>()
  const files = new Map<string, Set<Way>>()
  const names = new Map<string, string>()
  const turns: TurnFacts[] = []
  const fold = createTurnFold()
  let entries = 0
  let lastAnswer: string | undefined
  const addTurns = (shown: readonly ShownTurn[]): void => {
    for (const turn of shown) if (turn.number !== undefined) turns.push(toTurn(turn))
  }
  const countTool = (name: string, field: 'calls' | 'failed'): void => {
    const known = tools.get(name) ?? { calls: 0, failed: 0 }
    known[field] += 1
    if (tools.has(name) || tools.size < MOST_NAMES) tools.set(name, known)
  }
  return {
    add(entry) {
      entries += 1
      addTurns(fold.add(entry))
      if (entry.role === 'assistant') lastAnswer = textOf(entry.blocks) || lastAnswer
      for (const block of entry.blocks) {
        if (block.type === 'tool-call') {
          countTool(block.name, 'calls')
          if (block.callId !== undefined && names.size < MOST_NAMES) names.set(block.callId, block.name)
          for (const file of filesIn(block.input)) addFile(files, file, wayOf(block.name, block.input))
        } else if (block.type === 'tool-result' && hasFailed(block)) {
          countTool(block.name ?? names.get(block.callId ?? '') ?? 'unknown', 'failed')
        }
      }
    },
    end(session) {
      addTurns(fold.end())
      const sums = [...tools.values()]
      const tokens = sessionTokens(session)
      const millis = sessionMillis(session)
      const { id, title, agent, status, error, stopReason, startedAt, totals, model } = session
      const told = sessionUsd(session)
      const cost = told?.usd ?? totals?.cost?.usd
      const facts: SessionFacts = {
        id,
        run: runName(session),
        ...(title !== undefined && { title }),
        ...(agent !== undefined && { agent }),
        models: totals?.models ?? (model === undefined ? [] : [model]),
        status,
        ...(error !== undefined && { error }),
        ...(stopReason !== undefined && { stopReason }),
        ...(startedAt !== undefined && { startedAt }),
        ...(millis !== undefined && { durationMs: millis }),
        entries,
        turns: turns.length,
        ...(tokens.in !== undefined && { tokensIn: tokens.in }),
        ...(tokens.out !== undefined && { tokensOut: tokens.out }),
        ...(tokens.quality !== undefined && { quality: tokens.quality }),
        ...(cost !== undefined && { cost }),
        ...(told?.isStated !== true && totals?.cost && { costQuality: sumQuality(totals) }),
        toolCalls: sums.reduce((sum, { calls }) => sum + calls, 0),
        toolsFailed: sums.reduce((sum, { failed }) => sum + failed, 0),
        ...(lastAnswer !== undefined && { lastAnswer }),
      }
      return { session, facts, tools, files, turns }
    },
  }
}

function addFile(files: Map<string, Set<Way>>, file: string, way: Way): void {
  const known = files.get(file)
  if (known !== undefined) known.add(way)
  else if (files.size < MOST_NAMES) files.set(file, new Set([way]))
}

function toTurn({ role, blocks }: ShownTurn): TurnFacts {
  const text = textOf(blocks)
  return {
    role: role ?? 'unknown',
    chars: text.length,
    hash: createHash('sha256').update(text).digest().toString('base64url', 0, 12),
  }
}
