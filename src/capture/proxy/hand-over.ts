/**
 * The forwarding thread's side of recording: what passes is put into an outbox for whoever records. A chunk costs an entry in a list.
 * Where there is no room, a call is recorded without its rest, and the agent notices nothing.
 */
import type { IncomingMessage } from 'node:http'
import type { CallApi } from '../../wire/call-apis.ts'
import { isInquiry } from '../../wire/call-paths.ts'
import type { Watch } from './forward.ts'
import { createOutbox, type Outbox, type OutboxOptions } from './outbox.ts'
import type { Route } from './upstreams.ts'

export type HandOver = Omit<Outbox, 'put' | 'hold'> & {
  readonly watch: (request: IncomingMessage, route: Route) => Watch
}

/** With `asked`, as JSON. `raw`: names and values by turns. */
export type AskedFacts = {
  /** Absent for what is no call: a question about models or tokens. */
  readonly api?: CallApi
  readonly method: string
  readonly model?: string
  readonly upstream: string
  /** As it was asked. */
  readonly path: string
  readonly raw: readonly string[]
  /** The body was too much. */
  readonly isCut: boolean
}
/** With `response`. */
export type ResponseFacts = { readonly status: number; readonly raw: readonly string[] }
/** With `ended` and `broken`. */
export type EndFacts = {
  readonly isCut: boolean
  readonly by?: 'client' | 'upstream'
  readonly reason?: string
}

/** Of one request, held until it is parsed; a longer one is passed on and not read. */
const MOST_BODY = 64 * 1024 * 1024

export function createHandOver(options: OutboxOptions): HandOver {
  const outbox = createOutbox(options)
  const { put, hold } = outbox
  let calls = 0

  return {
    watch(request, { api, model, upstream, path }) {
      const { method = 'GET' } = request
      const isWatched =
        api === undefined ? isInquiry(method, path.split('?', 1)[0] as string) : method === 'POST'
      if (!isWatched) return UNWATCHED
      const call = (calls = (calls + 1) >>> 0)
      let body = 0
      let isBodyCut = false
      let isAsked = false
      let isCut = false
      const whole = (): void => {
        if (!isAsked) hold(-body)
        isAsked = true
      }
      const tellAsked = (): void => {
        if (isAsked) return
        whole()
        const facts: AskedFacts = {
          ...(api !== undefined && { api }),
          method,
          ...(model !== undefined && { model }),
          upstream: upstream.name,
          path: request.url ?? '',
          raw: request.rawHeaders,
          isCut: isBodyCut,
        }
        put('asked', call, facts)
      }
      const over = (kind: 'ended' | 'broken', why: Omit<EndFacts, 'isCut'>): void => {
        whole()
        put(kind, call, { isCut, ...why } satisfies EndFacts)
      }
      return {
        request(chunk) {
          if (isBodyCut) return
          isBodyCut = body + chunk.length > MOST_BODY || !put('request', call, chunk)
          if (isBodyCut || isAsked) return
          body += chunk.length
          hold(chunk.length)
        },
        asked: tellAsked,
        response({ statusCode = 0, rawHeaders }) {
          put('response', call, { status: statusCode, raw: rawHeaders } satisfies ResponseFacts)
        },
        chunk(part) {
          isCut ||= !put('chunk', call, part)
        },
        ended() {
          // Answered before all of it was asked: the rest may never come.
          isBodyCut ||= !isAsked
          tellAsked()
          over('ended', {})
        },
        broken: (by, reason) => over('broken', { by, reason }),
      }
    },
    ...outbox,
  }
}

export const UNWATCHED: Watch = {
  request() {},
  asked() {},
  response() {},
  chunk() {},
  ended() {},
  broken() {},
}
