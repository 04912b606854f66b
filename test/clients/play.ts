/**
 * What the loopback provider answers, told in advance: a prompt names a play (`play:shell`), and each answer since that prompt is
 * one step of it. The conversation alone decides, so subagents, resumes and retries find their own place without any state.
 */
import type { JsonObject } from '../../src/transcript/json.ts'

export type ToolUse = {
  readonly tool: string
  /** Codex groups some of its tools under a name. */
  readonly namespace?: string
  /** May be made from what the last tool returned, such as the id of an agent that was started. */
  readonly input: JsonObject | ((lastResult: string) => JsonObject)
}

/** What goes wrong before a step is answered, this many times. */
export type Fault = {
  readonly times: number
  /** A status instead of an answer, or a connection that ends after the first block. */
  readonly how: 400 | 429 | 500 | 529 | 'cut'
}

export type Step = {
  readonly say?: string
  readonly thinking?: string
  readonly tools?: readonly ToolUse[]
  readonly fault?: Fault
  /** Text that the request must hold; one without it is refused. */
  readonly hears?: string
  /** Tokens of input to bill the first time, where a client is to believe that its context is full. */
  readonly input?: number
  /** How long the answer takes, for clients that are killed meanwhile. */
  readonly pauseMs?: number
}

export type Plays = Readonly<Record<string, readonly Step[]>>

/** What a request says of the exchange so far, in whatever API. */
export type Conversation = {
  /** The last user's text that names a play. */
  readonly prompt: string
  /** Answers since. */
  readonly answers: number
  readonly lastResult: string
  readonly model: string
  /** Names of the tools on offer: a request without any is not the agent's own turn. */
  readonly tools: readonly string[]
}

export const PLAY = /\bplay:([\w-]+)/

export type Cue = { readonly play: string; readonly index: number; readonly step: Step }

/** The step that a conversation has come to; past the end of its play, or without one, a word. */
export function cueOf(plays: Plays, { prompt, answers, tools }: Conversation): Cue {
  const play = PLAY.exec(prompt)?.[1] ?? ''
  const step = (Object.hasOwn(plays, play) ? plays[play]?.[answers] : undefined) ?? { say: 'Well.' }
  const isOffered = (step.tools ?? []).every(({ tool }) => tools.includes(tool))
  return { play, index: answers, step: isOffered ? step : { say: 'There is no such tool here.' } }
}
