/**
 * Provider calls as they happen, whoever sees them pass: put in the session that they belong to, and in the archive before the next
 * thing happens. Recording never breaks a call: what fails is said once, and the call goes on without us.
 */
import { randomUUID } from 'node:crypto'
import { messageOf } from '../../errors.ts'
import type { Json, JsonObject } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import type { WireMessage } from '../../wire/message.ts'
import { parseRequest, type WireRequest } from '../../wire/request.ts'
import { record, type Recorder, type RecordOptions } from '../record.ts'
import { createReporter, toStderr, type Failure } from '../report.ts'
import { envelopeOf, type CallApi } from './apis.ts'
import { createAnswerReader, headerOf, type AnswerHead, type AnswerReader } from './answer.ts'
import { clientOf, type Client, type Headers } from './client.ts'
import { createConversation, type Conversation, type Voice } from './conversation.ts'

export type CallStart = {
  readonly api: CallApi
  /** The request's body, parsed. */
  readonly body: Json
  readonly headers: Headers
  /** Where the body does not say it. */
  readonly model?: string
  /** By name. */
  readonly upstream?: string
}

export type OpenCall = {
  response(head: AnswerHead): void
  chunk(bytes: Buffer): void
  ended(): void
  broken(by: 'client' | 'upstream', reason: string): void
}

export type CallLog = {
  readonly begin: (start: CallStart) => OpenCall
  /** Ends all sessions, when the calls that are over are in them. */
  end(): Promise<readonly Session[]>
}

export type CallLogOptions = Omit<RecordOptions, 'native' | 'model' | 'version'>

type Held = {
  readonly conversation: Promise<{ readonly recorder: Recorder; readonly conversation: Conversation }>
  heard?: Conversation
  /** The last call of it had no answer: the next may be the same again. */
  isFailed: boolean
  readonly isNamed: boolean
}

export function createCallLog(given: CallLogOptions = {}): CallLog {
  const options = { ...given, onFailure: once(given.onFailure ?? toStderr) }
  const report = createReporter(options.onFailure)
  const sessions = new Map<string, Held>()
  const open = new Set<Promise<void>>()

  /** By the name that the client gives it; without one, by what was said before. */
  const sessionOf = (client: Client, request: WireRequest): Held => {
    const name = client.native && `${client.native.agent} ${client.native.sessionId}`
    const known = name === undefined ? goneOn(sessions, request, client) : sessions.get(name)
    if (known !== undefined) return known
    const { native, agent, version } = client
    const begun = record({
      ...options,
      ...(agent !== undefined && options.agent === undefined && { agent }),
      ...(version !== undefined && { version }),
      ...(native && { native }),
      capture: { subagents: 'all', ...options.capture },
    })
    const held: Held = {
      isNamed: name !== undefined,
      isFailed: false,
      conversation: begun.then((recorder) => {
        const conversation = createConversation(recorder, name !== undefined)
        held.heard = conversation
        return { recorder, conversation }
      }),
    }
    sessions.set(name ?? randomUUID(), held)
    return held
  }

  return {
    begin(start) {
      const { api, body, headers } = start
      const began = performance.now()
      const call = randomUUID()
      let session: Held | undefined
      let voice: Promise<Voice> | undefined
      let reader: AnswerReader | undefined
      let head: AnswerHead | undefined
      let firstMs: number | undefined
      const guard = report.guard

      guard('a call', () => {
        const client = clientOf(headers, body)
        const envelope = envelopeOf(api)
        const request = parseRequest(envelope.api, envelope.request(body))
        const model = request.model ?? start.model
        const about: JsonObject = {
          call,
          api,
          ...(start.upstream !== undefined && { upstream: start.upstream }),
          ...(model !== undefined && { model }),
          ...(request.stream !== undefined && { stream: request.stream }),
          ...(client.retry !== undefined && { retry: client.retry }),
        }
        session = sessionOf(client, request)
        voice = session.conversation.then(({ conversation }) => conversation.ask(request, about))
        voice.catch((error: unknown) => report.failed({ what: 'a call', error }))
      })()

      const finish = (how: { readonly by: string; readonly reason: string } | undefined): void => {
        const over = end(how).catch((error: unknown) => report.failed({ what: 'an answer', error }))
        open.add(over)
        void over.finally(() => open.delete(over))
      }
      const end = async (
        how: { readonly by: string; readonly reason: string } | undefined,
      ): Promise<void> => {
        const durationMs = Math.round(performance.now() - began)
        const answer = await reader?.end()
        const { recorder, known } = (await voice) ?? {}
        if (recorder === undefined) return
        const metadata: JsonObject = {
          call,
          ...(head && head.status !== 200 && { status: head.status }),
          ...(firstMs !== undefined && { firstByteMs: Math.round(firstMs) }),
          ...(answer?.problem !== undefined && { unread: answer.problem }),
          ...(how && { brokenBy: how.by }),
          ...(head && retryAfterOf(head)),
        }
        const message = answer && withModel(answer.message, start.model)
        const hasSaid = message !== undefined && (message.blocks.length > 0 || message.usage !== undefined)
        if (session) session.isFailed = !hasSaid
        if (hasSaid) {
          const { error: _, ...said } = message
          recorder.answer(said, { durationMs, metadata: { ...metadata, ...said.fields } })
          known?.add('assistant', message.blocks)
        }
        const error =
          message?.error ??
          (how && { message: how.reason, code: `broken-by-${how.by}` }) ??
          (hasSaid ? undefined : { message: `no answer, status ${head?.status ?? 'unknown'}` })
        if (error !== undefined)
          recorder.error(Object.assign(new Error(error.message), 'code' in error && { code: error.code }), {
            ...(hasSaid ? {} : { durationMs }),
            metadata,
          })
      }

      return {
        response: guard('an answer', (said: AnswerHead) => {
          head = said
          reader = createAnswerReader(api, said)
        }),
        chunk: guard('a part of an answer', (bytes: Buffer) => {
          firstMs ??= performance.now() - began
          reader?.push(bytes)
        }),
        ended: guard('an answer', () => finish(undefined)),
        broken: guard('an answer', (by, reason) => finish({ by, reason })),
      }
    },
    async end() {
      await Promise.all(open)
      const ended: Session[] = []
      for (const { conversation } of sessions.values()) {
        try {
          ended.push(await (await conversation).recorder.end())
        } catch (error) {
          report.failed({ what: 'a session', error: messageOf(error) })
        }
      }
      sessions.clear()
      return ended
    },
  }
}

/** What fails in one session fails in the next: it is said of the first. */
function once(tell: (failure: Failure) => void): (failure: Failure) => void {
  const told = new Set<string>()
  return (failure) => {
    const kind = failure.message.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|journal-[\w-]+/g, '…')
    if (told.has(kind)) return
    told.add(kind)
    tell(failure)
  }
}

/** The session that has heard most of it. */
function goneOn(
  sessions: ReadonlyMap<string, Held>,
  request: WireRequest,
  { retry = 0 }: Client,
): Held | undefined {
  let best: { readonly held: Held; readonly overlap: number } | undefined
  for (const held of sessions.values()) {
    if (held.isNamed) continue
    const overlap = held.heard?.overlap(request, retry > 0 || held.isFailed) ?? 0
    if (overlap > (best?.overlap ?? 0)) best = { held, overlap }
  }
  return best?.held
}

function withModel(message: WireMessage, model: string | undefined): WireMessage {
  return message.model === undefined && model !== undefined ? { ...message, model } : message
}

function retryAfterOf({ headers }: AnswerHead): { readonly retryAfter?: string } {
  const said = headerOf(headers, 'retry-after')
  return said === undefined ? {} : { retryAfter: said }
}
