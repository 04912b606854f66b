/** How a call ended, put in the session that it belongs to: what was said, what it took, and what went wrong. */
import { changeText, type Block } from '../../transcript/block.ts'
import { toJson, type JsonObject } from '../../transcript/json.ts'
import { isCutOff, type WireMessage } from '../../wire/message.ts'
import type { Recorder } from '../record.ts'
import type { Voice } from './conversation.ts'
import type { OpenSession } from './open-sessions.ts'
import type { Tape } from './tape.ts'

export type AnswerFacts = {
  readonly metadata?: JsonObject
  /** Where it is told afterwards how long it took. */
  readonly durationMs?: number
  /** What somebody else says it cost, in US dollars. */
  readonly costUsd?: number | string
}

export type Broken = { readonly by: string; readonly reason: string }

/** What is said of a call that was not over when its recording was. */
export const LEFT: Broken = {
  by: 'recorder',
  reason: 'interrupted: the recorder ended before the answer did',
}

/** How a call ended, as far as whoever saw it can tell. */
export type Outcome = AnswerFacts & {
  readonly message?: WireMessage | undefined
  readonly broken?: Broken | undefined
  readonly status?: number
  readonly tape?: Tape | undefined
}

/** Where a call is recorded. */
export type Place = { readonly session: OpenSession; readonly voice: Voice; readonly whole: Recorder }

type Ended = {
  /** As its entries name the call. */
  readonly call: string
  readonly passedMs: number
  /** Told of the tools that were called. */
  readonly learn: (voice: Voice, blocks: readonly Block[]) => void
}

export function writeOutcome(
  outcome: Outcome,
  { session, voice, whole }: Place,
  { call, passedMs, learn }: Ended,
): void {
  const { message, broken, status, metadata: facts, costUsd, tape, durationMs = passedMs } = outcome
  const isBroken = broken !== undefined && message?.complete !== true
  const played = tape?.end(call, isBroken ? broken.by : undefined)
  const { recorder, known } = voice
  session.calls -= 1
  if (isBroken && broken.by === LEFT.by) session.left = broken.reason
  // Also what is packed is known by what it says.
  const cut = message && isCutOff(message) ? lastWords(message.blocks) : undefined
  const isTaped = played && whole.aside([toJson(message ?? null), played.words], played.line, cut)
  const metadata: JsonObject = { call, ...facts, ...(isTaped && { tape: true }) }
  const hasSaid = message !== undefined && (message.blocks.length > 0 || message.usage !== undefined)
  session.isFailed = !hasSaid
  if (hasSaid) {
    const { error: _, ...said } = message
    recorder.answer(said, { durationMs, metadata: { ...metadata, ...said.fields } })
    known.add('assistant', message.blocks)
    learn(voice, message.blocks)
    if (message.messageId !== undefined) voice.answered(message.messageId)
  }
  if (costUsd !== undefined) whole.addCost(costUsd)
  const error =
    message?.error ??
    // Whoever has the whole answer may well not wait for the end of the connection.
    (isBroken ? { message: broken.reason, code: `broken-by-${broken.by}` } : undefined) ??
    (hasSaid ? undefined : { message: `no answer, status ${status ?? 'unknown'}` })
  if (error !== undefined)
    recorder.error(Object.assign(new Error(error.message), 'code' in error && { code: error.code }), {
      ...(hasSaid ? {} : { durationMs }),
      metadata,
    })
}

/** What an answer ends with. */
function lastWords(blocks: readonly Block[]): string | undefined {
  const last = blocks.at(-1)
  let words: string | undefined
  if (last !== undefined) changeText(last, (text) => (words = text))
  return words
}
