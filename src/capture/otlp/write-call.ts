/** A call as a span tells it, written into the source of whoever made it: what is new of what was asked, and what was answered. */
import type { Call } from '../../transcript/entry.ts'
import type { JsonObject } from '../../transcript/json.ts'
import { hasCounts } from '../../transcript/usage.ts'
import type { WireMessage } from '../../wire/message.ts'
import type { WireRequest } from '../../wire/request.ts'
import type { SourceRecorder } from '../recorder.ts'
import { isNew, type Voice } from './voices.ts'

export type Part = {
  readonly request: WireRequest
  readonly message: WireMessage
  readonly askedAt?: string
  readonly answeredAt?: string
  readonly durationMs?: number
  readonly metadata: JsonObject
  /** Its counts are part of others that are counted. */
  readonly isCountedElsewhere?: boolean
}

export function saysAnything({ request, message }: Part): boolean {
  return request.messages.length > 0 || request.system !== undefined || message.blocks.length > 0
}

export function writeAsked(source: SourceRecorder, voice: Voice, { request, askedAt }: Part): void {
  const at = askedAt === undefined ? {} : { at: askedAt }
  const { system, parameters, messages } = request
  if (system !== undefined && isNew(voice, 'system', system.blocks)) source.system(system.blocks, at)
  if (parameters !== undefined && isNew(voice, 'parameters', parameters))
    source.event('parameters', parameters, at)
  for (const { message, blocks } of voice.known.take(messages)) source.message(message.role, blocks, at)
}

export function writeAnswer(source: SourceRecorder, voice: Voice, part: Part): void {
  const { message, answeredAt, durationMs, isCountedElsewhere = false } = part
  const { error, ...said } = message
  const details = {
    ...(answeredAt !== undefined && { at: answeredAt }),
    ...(durationMs !== undefined && { durationMs }),
  }
  const metadata: JsonObject = { ...part.metadata, ...saidTwice(part) }
  const { blocks } = said
  if (isCountedElsewhere) {
    const fresh = voice.known.take([{ role: 'assistant', blocks }]).flatMap((one) => one.blocks)
    if (fresh.length > 0) source.message('assistant', fresh, { ...details, metadata })
  } else {
    const hasSaid =
      blocks.length > 0 || error === undefined || (said.usage !== undefined && hasCounts(said.usage))
    if (hasSaid) source.answer(said, { ...details, call: callOf(said), metadata })
    voice.known.add('assistant', blocks)
  }
  if (error !== undefined)
    source.error(Object.assign(new Error(error.message), error.code !== undefined && { code: error.code }), {
      ...details,
      metadata,
    })
}

/** Who is not named is not known: a name of our own would make another call of it. */
function callOf({ provider, messageId, requestId }: WireMessage): Call {
  return {
    ...(provider !== '' && { provider }),
    ...(messageId !== undefined && { messageId }),
    ...(requestId !== undefined && { requestId }),
  }
}

/** The counts of what is counted with others stay, where nobody adds them up; so do answers that were not the first. */
function saidTwice({ message, isCountedElsewhere }: Part): JsonObject {
  const { usage, alternatives, model } = message
  return {
    ...(isCountedElsewhere === true && { countedElsewhere: true, ...(model !== undefined && { model }) }),
    ...(isCountedElsewhere === true && usage?.raw !== undefined && { usage: usage.raw }),
    ...(alternatives !== undefined && { alternatives }),
  }
}
