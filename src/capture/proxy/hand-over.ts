/**
 * The forwarding thread's side of recording: what passes is copied into a block of memory, and the block handed to whoever records. A
 * chunk costs its copy and nothing else. What waits to be recorded is bounded: past that, a call is recorded without its rest, and the
 * agent notices nothing.
 */
import type { IncomingMessage } from 'node:http'
import type { CallApi } from '../../wire/call-apis.ts'
import { isInquiry } from '../../wire/call-paths.ts'
import type { Watch } from './forward.ts'
import { createPacker, machineNow, sizeOf, type Kind, type Packer, type Parcel } from './parcel.ts'
import type { Route } from './upstreams.ts'

export type HandOver = {
  readonly watch: (request: IncomingMessage, route: Route) => Watch
  /** What is packed goes out now. */
  flush(): void
  /** A parcel has been read, and its memory may be used again. */
  took(buffer: ArrayBuffer): void
  /** Parcels that are out, and since when the oldest is, as `performance.now()` has it. */
  readonly out: () => { readonly parcels: number; readonly since: number }
  /** Nobody takes anything any more. */
  stop(): void
}

export type HandOverOptions = {
  readonly send: (parcel: Parcel) => void
  /** Something passed that will not be recorded. */
  readonly leftOut: () => void
  readonly budget?: number
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
/** Bytes that wait to be recorded, of all calls: more than the longest request. */
const BUDGET = 80 * 1024 * 1024
/** Past the budget, for how calls begin and end. */
const RESERVE = 8 * 1024 * 1024
/** Of a block: more than a socket gives at once. */
const BLOCK = 128 * 1024
/** Blocks kept for the next use. */
const MOST_KEPT = 16
/** Blocks that are full and go out soon, whatever they hold. */
const MANY = 8
/** A parcel this full changes hands itself; of a smaller one a copy does. */
const WORTH_GIVING = BLOCK / 4
/** Parcels that are out when what is not full waits: whoever is busy with these gets it with what comes after it. */
const FEW_OUT = 4
/** Out at a time: whoever reads them has its own affairs in between. */
const MOST_OUT = 64
/** How a call begins and ends waits this long, in milliseconds: a recorder that wakes up takes a processor from what is on its way. */
const SOON_MS = 2
/** A chunk waits this long for others. */
const LINGER_MS = 10

export function createHandOver({ send, leftOut, budget = BUDGET }: HandOverOptions): HandOver {
  let packer: Packer | undefined
  const kept: ArrayBuffer[] = []
  /** When each of those that are out was sent: they come back in order. */
  const sent: number[] = []
  /** Packed, in order, until their turn. */
  const next: Parcel[] = []
  /** Of all that is packed and not back. */
  let outBytes = 0
  /** Bytes of requests that are not whole: the other side holds them. */
  let unasked = 0
  let isStopped = false
  let soon: NodeJS.Timeout | undefined
  let later: NodeJS.Timeout | undefined
  let calls = 0

  const close = (): void => {
    if (packer === undefined || packer.used() === 0) return
    const { buffer, used } = packer.parcel()
    const isGiven = used >= WORTH_GIVING
    const parcel = { buffer: isGiven ? buffer : buffer.slice(0, used), used }
    packer = isGiven ? undefined : createPacker(buffer)
    outBytes += parcel.buffer.byteLength
    next.push(parcel)
  }
  const sendNext = (most: number): void => {
    while (sent.length < most && next.length > 0) {
      sent.push(performance.now())
      send(next.shift() as Parcel)
    }
  }
  const flush = (most = Number.POSITIVE_INFINITY): void => {
    clearTimeout(soon)
    clearTimeout(later)
    soon = later = undefined
    close()
    sendNext(most)
  }
  const flushSome = (): void => flush(MOST_OUT)
  const flushSoon = (): void => {
    if (sent.length < FEW_OUT) soon ??= setTimeout(flushSome, SOON_MS)
  }
  const flushLater = (): void => {
    if (sent.length < FEW_OUT && soon === undefined) later ??= setTimeout(flushSome, LINGER_MS)
  }
  /** False when there is no room for it. */
  const put = (kind: Kind, call: number, bytes: Buffer): boolean => {
    if (isStopped) return false
    const size = sizeOf(bytes)
    const isPart = kind === 'chunk' || kind === 'request'
    const waiting = outBytes + unasked + (packer?.used() ?? 0)
    if (waiting + size > (isPart ? budget : budget + RESERVE)) {
      leftOut()
      return false
    }
    if (packer !== undefined && !packer.hasRoom(size)) {
      close()
      if (next.length >= MANY) flushSoon()
    }
    packer ??= createPacker(size > BLOCK ? new ArrayBuffer(size) : (kept.pop() ?? new ArrayBuffer(BLOCK)))
    // A copy was sent, and what it was copied from is smaller than this.
    if (!packer.hasRoom(size)) packer = createPacker(new ArrayBuffer(size))
    packer.put(kind, call, machineNow(), bytes)
    if (isPart) flushLater()
    else flushSoon()
    return true
  }

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
        if (!isAsked) unasked -= body
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
        put('asked', call, toBytes(facts))
      }
      const over = (kind: 'ended' | 'broken', why: Omit<EndFacts, 'isCut'>): void => {
        whole()
        put(kind, call, toBytes({ isCut, ...why } satisfies EndFacts))
      }
      return {
        request(chunk) {
          if (isBodyCut) return
          isBodyCut = body + chunk.length > MOST_BODY || !put('request', call, chunk)
          if (isBodyCut || isAsked) return
          body += chunk.length
          unasked += chunk.length
        },
        asked: tellAsked,
        response({ statusCode = 0, rawHeaders }) {
          put('response', call, toBytes({ status: statusCode, raw: rawHeaders } satisfies ResponseFacts))
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
    flush: () => flush(),
    took(buffer) {
      sent.shift()
      outBytes -= buffer.byteLength
      if (buffer.byteLength === BLOCK && kept.length < MOST_KEPT) kept.push(buffer)
      if (next.length > 0) sendNext(MOST_OUT)
      else if (packer !== undefined && packer.used() > 0) flushSoon()
    },
    out: () => ({ parcels: sent.length, since: sent[0] ?? performance.now() }),
    stop() {
      isStopped = true
      packer = undefined
      next.length = 0
      clearTimeout(soon)
      clearTimeout(later)
    },
  }
}

function toBytes(facts: AskedFacts | ResponseFacts | EndFacts): Buffer {
  return Buffer.from(JSON.stringify(facts))
}

export const UNWATCHED: Watch = {
  request() {},
  asked() {},
  response() {},
  chunk() {},
  ended() {},
  broken() {},
}
