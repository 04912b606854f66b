/** devflow's turns and tool calls as entries for the recorder. */
import { HansardError } from '../errors.ts'
import { toUsage } from '../formats/devflow/facts.ts'
import { parseInstant } from '../transcript/instant.ts'
import type { JsonObject } from '../transcript/json.ts'
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
  recordToolCall(call: RunToolCall): void
}

export function createTurnRecorder(runId: string, recorder: Recorder): ActiveRun {
  let turns = 0
  let calls = 0
  let role: RunTurn['role'] = 'user'

  const say = (content: string, details: Details): void => {
    if (role !== 'tool_result') return recorder[role](content, details)
    recorder.toolResult({ output: content, ...details, metadata: { devflow: { role } } })
  }

  const recordToolCall = ({ id, name, input = {}, output, error }: RunToolCall): void => {
    if (turns === 0) {
      throw new HansardError('invalid-argument', `run ${runId} has no turn for a tool call`, {
        hint: 'record the turn that made the call first',
      })
    }
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
      const at = turn.timestamp === undefined ? undefined : parseInstant(turn.timestamp)
      if (turn.timestamp !== undefined && at === undefined)
        throw new HansardError('invalid-argument', 'a turn has a timestamp that is no instant', {
          hint: 'use RFC 3339',
        })
      const { tokensIn, tokensOut, durationMs, model } = turn
      const usage = toUsage(tokensIn, tokensOut)
      turns += 1
      role = turn.role
      say(turn.content, {
        id: `turn-${turns}`,
        ...(usage && { usage }),
        ...(at !== undefined && { at }),
        ...(durationMs !== undefined && { durationMs }),
        ...(model !== undefined && { model }),
      })
      for (const call of turn.toolCalls ?? []) recordToolCall(call)
      return turns
    },
    recordToolCall,
  }
}
