/**
 * Provider calls as they happen, whoever sees them pass: put in the session that they belong to, and in the archive before the next
 * thing happens. Recording never breaks a call: what fails is said once, and the call goes on without us.
 */
import { randomUUID } from 'node:crypto'
import { defaultHome } from '../../archive/archive.ts'
import { isHansardError } from '../../errors.ts'
import { nextTurn } from '../../sources/next-turn.ts'
import type { Block } from '../../transcript/block.ts'
import type { Json, JsonObject } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import type { WireMessage } from '../../wire/message.ts'
import { parseRequest } from '../../wire/request.ts'
import { record, type Recorder, type RecordOptions } from '../record.ts'
import type { ToolResult } from '../recorder.ts'
import { createReporter, toStderr, type Failure } from '../report.ts'
import { createSpill } from '../spill.ts'
import { envelopeOf, type CallApi } from '../../wire/call-apis.ts'
import {
  LEFT,
  writeOutcome,
  type AnswerFacts,
  type Broken,
  type Outcome,
  type Place,
} from './call-outcome.ts'
import { createAnswerReader, headerOf, type Answer, type AnswerHead, type AnswerReader } from './answer.ts'
import { clientOf, type Headers } from './client.ts'
import { createConversation } from './conversation.ts'
import { createInquiries, type InquiryStart, type OpenInquiry } from './inquiries.ts'
import { createOpenSessions, type Asking } from './open-sessions.ts'
import { createOpenTools } from './open-tools.ts'
import { createRequestPacker, type RequestFacts } from '../../wire/tape-requests.ts'
import { createTapeDeck, type Tape } from './tape.ts'
import { createUnfinishedAnswers, type Coming, type ComingAnswer } from './unfinished.ts'

export type CallStart = {
  readonly api: CallApi
  /** The request's body, parsed. */
  readonly body: Json
  readonly headers: Headers
  /** Where the body does not say it. */
  readonly model?: string
  /** By name. */
  readonly upstream?: string
  /** As it was asked. */
  readonly path?: string
  /** When it was asked, where that was some time ago: as `performance.now()` has it. */
  readonly began?: number
  /** The body was not given to us: nothing in it tells whose call it is. */
  readonly isUnread?: boolean
}

export type OpenCall = {
  response(head: AnswerHead): void
  /** `at`: when it came, as `performance.now()` has it, where that was some time ago. */
  chunk(bytes: Buffer, at?: number): void
  /** `unread`: why the end of it was not given to us, where the client may well have it. */
  ended(at?: number, unread?: string): void
  broken(by: 'client' | 'upstream', reason: string, at?: number): void
}

export type CallLog = {
  readonly begin: (start: CallStart) => OpenCall
  /** A question about models or tokens: on the tape, for replay, and nowhere else. */
  readonly inquire: (start: InquiryStart) => OpenCall
  /** A call that somebody else has read for us: what was asked, and later what was answered. */
  readonly ask: (asked: Asked) => AskedCall
  /** What a tool gave, before the next request repeats it. */
  readonly toolResult: (result: ToolOutcome) => void
  /** Something that is no call, in the session that a group belongs to; nothing where there is none yet. */
  readonly note: (groups: readonly string[], record: string, raw: Json) => void
  /** Of what was told, how much is not written yet. */
  readonly behind: () => number
  /** When what was told so far is written. */
  readonly settled: () => Promise<void>
  /** While the process goes down: what has come of answers is recorded before this returns. */
  leave(): void
  /** Ends all sessions, when all calls are in them: those that are not over as broken off, by us. */
  end(): Promise<readonly Session[]>
}

export type Asked = Asking & {
  /** Which API or framework, which model, and the like. */
  readonly about: JsonObject
  /** The request itself, for replay. */
  readonly wire?: RequestFacts
}

export type AskedCall = {
  answered(message: WireMessage, details?: AnswerFacts): void
  broken(by: 'client' | 'upstream', reason: string, details?: AnswerFacts): void
}

export type ToolOutcome = Pick<ToolResult, 'output' | 'error' | 'isError' | 'durationMs' | 'metadata'> & {
  readonly callId?: string
  /** Without an id: the newest call of this tool with this input. */
  readonly name?: string
  readonly input?: Json
}

export type CallLogOptions = Omit<RecordOptions, 'native' | 'model' | 'version'>

/** A call that was asked. */
type Pending = {
  readonly call: string
  /** Undefined until it is known. */
  readonly place: () => Place | undefined
  /** Records how it ended: when that is known, or with what is known when nobody can wait. */
  readonly settle: (outcome: () => Promise<Outcome>, now: () => Outcome, at?: number) => void
}

const UNREAD = 'unread'

const UNCOUNTED =
  'chat completions did not say what they used: a stream does when its client asks for stream_options.include_usage'

/** Of groups and of tools that are called: those that nobody asks for again are forgotten in time. */
const MOST_HELD = 10_000

/** What a call goes through, each of which may fail: a test makes them. */
export const PARTS = {
  clientOf,
  parseRequest,
  createAnswerReader,
  createConversation,
  createTapeDeck,
  record,
}
export type Parts = typeof PARTS

export function createCallLog(given: CallLogOptions = {}, parts: Parts = PARTS): CallLog {
  const options = { ...given, onFailure: once(given.onFailure ?? toStderr) }
  const report = createReporter(options.onFailure)
  const { guard } = report
  const tools = createOpenTools(MOST_HELD)
  const tapes = parts.createTapeDeck({ spill: createSpill(options.home ?? defaultHome()) })
  const packer = createRequestPacker()
  const unfinished = createUnfinishedAnswers()
  /** Answers that came to their end and did not say what they took, for nobody had asked for it. */
  let uncounted = 0
  /** Calls that are not over: what to do where nobody waits for them any more. */
  const under = new Set<() => void>()
  /** What is being written: the next call waits for it, for it may go on with what this one said. */
  const open = new Set<Promise<void>>()
  /** Calls that are over and not written: what to do where nothing can be waited for any more. */
  const leaving = new Set<() => void>()

  const track = (work: Promise<void>, what: string): void => {
    const over = work.catch((error: unknown) => report.failed({ what, error }))
    open.add(over)
    void over.finally(() => open.delete(over))
  }
  const written = async (): Promise<void> => void (await Promise.all(open))
  /** One after the other, each in a turn of its own: of answers that end together each is in memory some times over. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = last.then(nextTurn).then(work)
    last = done.catch(() => {})
    return done
  }

  const sessions = createOpenSessions({
    async begin({ native, agent, version }, isNamed) {
      const recorder = await recordApart(parts.record, {
        ...options,
        ...(agent !== undefined && options.agent === undefined && { agent }),
        ...(version !== undefined && { version }),
        ...(native && { native }),
        capture: { subagents: 'all', ...options.capture },
      })
      return { recorder, conversation: parts.createConversation(recorder, isNamed) }
    },
    failed: (error) => report.failed({ what: 'a session', error }),
  })

  const inquiries = createInquiries(tapes, (client) => sessions.near(client))

  /** Records what is asked, and gives what records how it ended. */
  const ask = (asked: Asked, began: number): Pending => {
    const call = randomUUID()
    let place: Place | undefined
    const put = async (): Promise<Place> => {
      const session = sessions.of(asked)
      session.calls += 1
      try {
        const { conversation, recorder } = await session.begun
        place = { session, voice: conversation.ask(asked.request, { call, ...asked.about }), whole: recorder }
        const lane = { session: recorder.id, lane: place.voice.recorder.source }
        if (asked.wire && !recorder.asideRedacted(packer.pack(lane, call, asked.wire))) packer.forget(lane)
        if (inquiries.waiting() > 0) track(inquiries.settle(), 'an inquiry')
        return place
      } catch (error) {
        session.calls -= 1
        throw error
      }
    }
    const asking = open.size === 0 ? put() : written().then(put)
    track(
      asking.then(() => {}),
      'a call',
    )

    const settle: Pending['settle'] = (outcome, now, at = performance.now()) => {
      const passedMs = Math.round(at - began)
      const last = (): void => {
        if (place === undefined || !leaving.delete(last)) return
        writeOutcome(now(), place, { call, passedMs, learn: tools.learn })
      }
      leaving.add(last)
      const end = async (): Promise<void> => {
        // That it could not be asked has been said.
        const asked = await asking.catch(() => undefined)
        // Put together when it can be written, and not before: of calls that wait for a slow disk there may be many.
        const told = await outcome()
        if (!leaving.delete(last)) return
        if (asked === undefined) told.tape?.end(call)
        else writeOutcome(told, asked, { call, passedMs, learn: tools.learn })
      }
      track(
        asking.catch(() => {}).then(() => inTurn(end)),
        'an answer',
      )
    }
    return { call, place: () => place, settle }
  }
  /** Gives what is said once: that it is over, by whoever says so first. */
  const onceOver = <A extends readonly unknown[]>(end: (...args: A) => void, left: NoInfer<A>) => {
    const leaveIt = (): void => over(...left)
    const over = (...args: A): void => {
      if (under.delete(leaveIt)) end(...args)
    }
    under.add(leaveIt)
    return over
  }
  const leaveAll = (): void => {
    for (const leaveIt of under) guard('an answer', leaveIt)()
  }

  return {
    begin(start) {
      const { api, body, headers } = start
      const { began = performance.now() } = start
      let pending: Pending | undefined
      let reader: AnswerReader | undefined
      let coming: Coming | undefined
      let head: AnswerHead | undefined
      let tape: Tape | undefined
      let firstMs: number | undefined

      guard('a call', () => {
        const client = parts.clientOf(headers, body)
        const envelope = envelopeOf(api)
        const request = parts.parseRequest(envelope.api, envelope.request(body))
        const model = request.model ?? start.model
        const about: JsonObject = {
          api,
          ...(start.upstream !== undefined && { upstream: start.upstream }),
          ...(model !== undefined && { model }),
          ...(request.stream !== undefined && { stream: request.stream }),
          ...(client.retry !== undefined && { retry: client.retry }),
        }
        // Those are one session of their own, and not each one.
        const known = start.isUnread === true ? { groups: [UNREAD] } : { wire: toWire(start) }
        pending = ask({ request, about, client, ...known }, began)
      })()

      const toOutcome = (answer: Answer | undefined, broken: Broken | undefined): Outcome => {
        const { complete, usage } = answer?.message ?? {}
        if (api === 'openai-chat' && complete === true && usage?.quality === 'unavailable') uncounted += 1
        return {
          message: answer && withModel(answer.message, start.model),
          broken,
          tape,
          ...(head && { status: head.status }),
          metadata: {
            ...(head && head.status !== 200 && { status: head.status }),
            ...(firstMs !== undefined && { firstByteMs: Math.round(firstMs) }),
            ...(answer?.problem !== undefined && { unread: answer.problem }),
            ...(broken && { brokenBy: broken.by }),
            ...(head && retryAfterOf(head)),
          },
        }
      }
      const end = (broken: Broken | undefined, at: number | undefined, unread?: string): void => {
        const cut = (answer: Answer | undefined): Answer | undefined =>
          answer && unread !== undefined ? { problem: unread, ...answer } : answer
        if (unread !== undefined) {
          // What is not all of it is no exact copy.
          tape?.end('')
          tape = undefined
        }
        pending?.settle(
          async () => toOutcome(cut(await reader?.end()), broken),
          () => toOutcome(cut(reader?.now()), broken),
          at,
        )
        coming?.end()
      }
      const over = onceOver(end, [LEFT, undefined])
      const look = (): ComingAnswer | undefined => {
        const message = reader?.soFar()
        const session = pending?.place()?.whole
        return pending && message && session && { session, call: pending.call, message }
      }
      return {
        response: guard('an answer', (said: AnswerHead) => {
          head = said
          reader = parts.createAnswerReader(api, said)
          tape = tapes.begin(said, began)
          coming = unfinished.begin(look)
        }),
        chunk: guard('a part of an answer', (bytes: Buffer, at: number = performance.now()) => {
          firstMs ??= at - began
          reader?.push(bytes)
          tape?.push(bytes, at)
          coming?.touch()
        }),
        ended: guard('an answer', (at?: number, unread?: string) => over(undefined, at, unread)),
        broken: guard('an answer', (by: string, reason: string, at?: number) => over({ by, reason }, at)),
      }
    },
    inquire(start) {
      let open: OpenInquiry | undefined
      guard('an inquiry', () => {
        open = inquiries.begin(start, parts.clientOf(start.headers, start.body))
      })()
      return {
        response: guard('an inquiry', (head: AnswerHead) => open?.response(head)),
        chunk: guard('an inquiry', (bytes: Buffer, at?: number) => open?.chunk(bytes, at)),
        ended: guard('an inquiry', (_?: number, unread?: string) => {
          if (open !== undefined && unread === undefined) track(open.end(), 'an inquiry')
          else open?.drop()
        }),
        broken: guard('an inquiry', () => open?.drop()),
      }
    },
    ask(asked) {
      let pending: Pending | undefined
      guard('a call', () => {
        pending = ask(asked, performance.now())
      })()
      const end = (outcome: Outcome): void =>
        pending?.settle(
          async () => outcome,
          () => outcome,
        )
      const over = onceOver(end, [{ broken: LEFT, metadata: { brokenBy: LEFT.by } }])
      return {
        answered: guard('an answer', (message, details = {}) => over({ message, ...details })),
        broken: guard('an answer', (by, reason, details = {}) =>
          over({ broken: { by, reason }, ...details }),
        ),
      }
    },
    toolResult: guard('a tool result', (result: ToolOutcome) => {
      const put = async (): Promise<void> => {
        await written()
        const found = tools.take(result)
        if (found === undefined) return
        const { voice, callId, name } = found
        const { output, error, isError, durationMs, metadata } = result
        const block: Block = { type: 'tool-result', callId, name }
        // The next request may have been faster.
        if (voice.known.take([{ role: 'tool', blocks: [block] }]).length === 0) return
        voice.recorder.toolResult({
          callId,
          name,
          ...(output !== undefined && { output }),
          ...(error !== undefined && { error }),
          ...(isError !== undefined && { isError }),
          ...(durationMs !== undefined && { durationMs }),
          ...(metadata && { metadata }),
        })
      }
      track(put(), 'a tool result')
    }),
    note: guard('an event', (names: readonly string[], what: string, raw: Json) => {
      const put = async (): Promise<void> => {
        await written()
        const session = sessions.inGroup(names)
        if (session !== undefined) (await session.begun).recorder.event(what, raw)
      }
      track(put(), 'an event')
    }),
    behind: () => open.size,
    settled: written,
    leave() {
      leaveAll()
      for (const last of leaving) guard('an answer', last)()
    },
    async end() {
      leaveAll()
      while (open.size > 0) await written()
      if (uncounted > 0) report.misuse(`${uncounted} ${UNCOUNTED}`)
      uncounted = 0
      await inquiries.settle(true).catch((error: unknown) => report.failed({ what: 'an inquiry', error }))
      return sessions.end()
    },
  }
}

/** A run may have any number of conversations: in formats that name one after the run, the others are told apart. */
async function recordApart(begin: typeof record, options: RecordOptions): Promise<Recorder> {
  try {
    return await begin(options)
  } catch (error) {
    if (!isHansardError(error) || error.code !== 'run-already-exists') throw error
    const apart = randomUUID().slice(0, 8)
    return begin({ ...options, suffix: options.step === undefined ? apart : `${options.step}-${apart}` })
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

/** Those that change what is answered. */
const KEPT_HEADERS = ['anthropic-version', 'anthropic-beta', 'openai-beta']

function toWire({ api, body, path, headers }: CallStart): RequestFacts {
  const kept = KEPT_HEADERS.flatMap((name) => {
    const said = headerOf(headers, name)
    return said === undefined ? [] : [[name, said] as const]
  })
  const [bare] = (path ?? '').split('?', 1)
  return {
    api,
    ...(bare !== undefined && bare !== '' && { path: bare }),
    ...(kept.length > 0 && { headers: Object.fromEntries(kept) }),
    body,
  }
}

function withModel(message: WireMessage, model: string | undefined): WireMessage {
  return message.model === undefined && model !== undefined ? { ...message, model } : message
}

function retryAfterOf({ headers }: AnswerHead): { readonly retryAfter?: string } {
  const said = headerOf(headers, 'retry-after')
  return said === undefined ? {} : { retryAfter: said }
}
