/**
 * Entries folded into turns as they come, for views that show a tool's result with its call. A turn is let go as soon as
 * nothing can join it, and turns keep the order they began in.
 */
import type { Block, ToolCallBlock, ToolResultBlock } from '../transcript/block.ts'
import type { Entry, Role } from '../transcript/entry.ts'
import type { Usage } from '../transcript/usage.ts'

export type ShownTurn = {
  /** From 1; undefined for an event, which is no turn. */
  readonly number: number | undefined
  readonly source: string
  readonly role: Role | undefined
  readonly at: string | undefined
  readonly model: string | undefined
  readonly usage: Usage | undefined
  readonly durationMs: number | undefined
  /** What kind of record an event was. */
  readonly record: string | undefined
  /** Without the calls, and without the results that answer them. */
  readonly blocks: readonly Block[]
  readonly calls: readonly ShownCall[]
}

export type ShownCall = { readonly call: ToolCallBlock; readonly result?: ToolResultBlock }

export type TurnFold = {
  /** The turns that are complete now. */
  add(entry: Entry): readonly ShownTurn[]
  end(): readonly ShownTurn[]
}

/** How many turns may wait for one before them, as when a subagent works while its caller's call is open. */
const WAITING = 1000

type OpenCall = { call: ToolCallBlock; result?: ToolResultBlock }
type Open = {
  -readonly [K in keyof ShownTurn]: ShownTurn[K]
} & { blocks: Block[]; calls: OpenCall[]; messageId: string | undefined; done: boolean; answered: number }

export function createTurnFold(): TurnFold {
  const current = new Map<string, Open>()
  let waiting: Open[] = []
  let count = 0

  const begin = (entry: Entry, blocks: readonly Block[]): Open => {
    const isTurn = entry.kind === 'message'
    if (isTurn) count += 1
    const record = entry.metadata?.['record']
    const { source, role, at, model, usage, durationMs } = entry
    const turn: Open = {
      number: isTurn ? count : undefined,
      source,
      role,
      at,
      model,
      usage,
      durationMs,
      record: typeof record === 'string' ? record : undefined,
      blocks: [],
      calls: [],
      messageId: entry.call?.messageId,
      done: !isTurn,
      answered: 0,
    }
    fill(turn, blocks)
    waiting.push(turn)
    if (!isTurn) return turn
    const before = current.get(source)
    if (before !== undefined) before.done = true
    current.set(source, turn)
    turn.done = turn.messageId === undefined && turn.calls.length === 0
    return turn
  }

  const add = (entry: Entry): void => {
    const open = entry.kind === 'message' ? current.get(entry.source) : undefined
    if (open === undefined || entry.blocks.length === 0) {
      begin(entry, entry.blocks)
      return
    }
    const isAnswer = entry.blocks.every((block) => block.type === 'tool-result')
    if (isAnswer) {
      const rest = entry.blocks.filter((block) => block.type === 'tool-result' && !answer(open, block))
      if (rest.length > 0) begin(entry, rest)
    } else if (open.messageId !== undefined && sameMessage(open, entry)) {
      fill(open, entry.blocks)
      open.usage = entry.usage ?? open.usage
      open.durationMs = entry.durationMs ?? open.durationMs
    } else begin(entry, entry.blocks)
  }

  const release = (all: boolean): readonly ShownTurn[] => {
    const stays = waiting.findIndex((turn, at) => !all && !turn.done && waiting.length - at <= WAITING)
    const out = stays === -1 ? waiting : waiting.slice(0, stays)
    waiting = stays === -1 ? [] : waiting.slice(stays)
    // What has been let go takes no more answers.
    for (const turn of out) if (current.get(turn.source) === turn) current.delete(turn.source)
    return out
  }

  return {
    add(entry) {
      add(entry)
      return release(false)
    },
    end: () => release(true),
  }
}

function sameMessage(open: Open, entry: Entry): boolean {
  return open.messageId === entry.call?.messageId && open.role === entry.role
}

function fill(turn: Open, blocks: readonly Block[]): void {
  for (const block of blocks) {
    if (block.type === 'tool-call') turn.calls.push({ call: block })
    else turn.blocks.push(block)
  }
}

/** Puts a result with its call: by id, else with the first that has no answer yet. False when no call waits for it. */
function answer(turn: Open, result: ToolResultBlock): boolean {
  // Answers mostly come in the order of the calls: looking from the first open one keeps this from being quadratic.
  while (turn.calls[turn.answered]?.result !== undefined) turn.answered += 1
  for (let at = turn.answered; at < turn.calls.length; at += 1) {
    const open = turn.calls[at] as OpenCall
    if (open.result !== undefined || !fits(open.call, result)) continue
    open.result = result
    return true
  }
  return false
}

function fits(call: ToolCallBlock, result: ToolResultBlock): boolean {
  if (call.callId !== undefined && result.callId !== undefined) return call.callId === result.callId
  return result.name === undefined || result.name === call.name
}
