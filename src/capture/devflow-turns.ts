/** devflow's turns and tool calls as entries for the recorder. */
import { toUsage } from '../formats/devflow/facts.ts'
import { parseInstant } from '../transcript/instant.ts'
import type { JsonObject } from '../transcript/json.ts'
import { checkToolCall, checkTurn } from './devflow-checks.ts'
import type { Recorder } from './record.ts'
import type { Details } from './recorder.ts'

/** A turn in the seed's own words. Its id is given: 1 for the first. */
export type RunTurn = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool_result'
  readonly content: string
  readonly tokensIn?: number
  readonly tokensOut?: number
  /** Now when absent. */
  readonly timestamp?: string
  readonly durationMs?: number
  readonly toolCalls?: readonly RunToolCall[]
  readonly model?: string
}

export type RunToolCall = {
  readonly id?: string
  readonly name: string
  readonly input?: JsonObject
  readonly output?: string
  readonly error?: string
}

export type ActiveRun = {
  readonly runId: string
  readonly recorder: Recorder
  turnCount(): number
  recordTurn(turn: RunTurn): number
  recordToolCall(call: RunToolCall): boolean
}

export function createTurnRecorder(runId: string, recorder: Recorder): ActiveRun {
  let turns = 0
  let calls = 0
  let role: RunTurn['role'] = 'user'

  const say = (content: string, details: Details): void => {
    if (role !== 'tool_result') return recorder[role](content, details)
    recorder.toolResult({ output: content, ...details, metadata: { devflow: { role } } })
  }

  const attach = ({ id, name, input = {}, output, error }: RunToolCall): void => {
    calls += 1
    // Every call gets an id, so that its result cannot be taken for that of an older call nobody answered.
    const callId = id ?? `call_${turns}_${calls}`
    const caller = role === 'tool_result' ? 'assistant' : role
    // Part of the turn before it, which is already recorded: a call that waited for its turn's end could be lost.
    const metadata = { devflow: { turn: `turn-${turns}` } }
    recorder[caller]([{ type: 'tool-call', callId, name, input }], { metadata })
    if (output === undefined && error === undefined) return
    recorder.toolResult({
      callId,
      name,
      ...(output !== undefined && { output }),
      ...(error !== undefined && { error }),
    })
  }

  return {
    runId,
    recorder,
    turnCount: () => turns,
    recordTurn(turn) {
      // Nothing is counted or recorded of a turn that is refused.
      checkTurn(turn)
      const { timestamp, tokensIn, tokensOut, durationMs, model } = turn
      const usage = toUsage(tokensIn, tokensOut)
      const at = parseInstant(timestamp)
      turns += 1
      role = turn.role
      say(turn.content, {
        id: `turn-${turns}`,
        ...(usage && { usage }),
        ...(at !== undefined && { at }),
        ...(durationMs !== undefined && { durationMs }),
        ...(model !== undefined && { model }),
      })
      for (const call of turn.toolCalls ?? []) attach(call)
      return turns
    },
    recordToolCall(call) {
      checkToolCall(call)
      if (turns === 0 || role !== 'assistant') return false
      attach(call)
      return true
    },
  }
}
