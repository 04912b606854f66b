/** One call as its bytes pass: what is asked, what is answered, and the tape of it, put together for whoever writes it. */
import type { JsonObject } from '../../transcript/json.ts'
import { envelopeOf } from '../../wire/call-apis.ts'
import type { WireMessage } from '../../wire/message.ts'
import type { RequestFacts } from '../../wire/tape-requests.ts'
import type { Reporter } from '../report.ts'
import type { CallStart, OpenCall } from './call.ts'
import { LEFT, type Broken, type Outcome } from './call-outcome.ts'
import { headerOf, type Answer, type AnswerHead, type AnswerReader } from './answer.ts'
import type { Parts } from './call-parts.ts'
import type { Pending, PendingCalls } from './pending-calls.ts'
import type { Shelves } from './shelves.ts'
import type { Tape, TapeDeck } from './tape.ts'
import type { Coming, ComingAnswer, UnfinishedAnswers } from './unfinished.ts'

/** Gives what is said once: that it is over, by whoever says so first; `left` when nobody waits for it any more. */
export type OnceOver = <A extends readonly unknown[]>(
  end: (...args: A) => void,
  left: NoInfer<A>,
) => (...args: A) => void

type Around = {
  readonly parts: Parts
  readonly guard: Reporter['guard']
  readonly ask: PendingCalls['ask']
  readonly tapes: TapeDeck
  readonly shelves: Shelves
  readonly unfinished: UnfinishedAnswers
  readonly onceOver: OnceOver
  /** It came to its end and did not say what it took, for nobody had asked for it. */
  readonly uncounted: () => void
}

const UNREAD = 'unread'

export function createPassingCall(start: CallStart, around: Around): OpenCall {
  const { parts, guard, ask, tapes, shelves, unfinished, onceOver, uncounted } = around
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
    if (api === 'openai-chat' && complete === true && usage?.quality === 'unavailable') uncounted()
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
      // It could not be asked, which has been said: nobody would give back what its answer takes.
      if (pending === undefined) return
      head = said
      reader = parts.createAnswerReader(api, said, shelves.begin())
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
