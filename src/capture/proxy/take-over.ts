/** The recorder's side of what the forwarding thread hands over: each call is put together from its records, in the order they came. */
import { createDecoding } from '../../sources/decoding.ts'
import { parseJson, type Json } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import { createHeldBytes } from '../../wire/held-bytes.ts'
import { headerOf } from '../calls/answer.ts'
import type { OpenCall } from '../calls/call.ts'
import type { CallLog } from '../calls/call-log.ts'
import type { Headers } from '../calls/client.ts'
import type { AskedFacts, EndFacts, ResponseFacts } from './hand-over.ts'
import { toOwnTime, unpack, type Kind, type Parcel } from './parcel.ts'

export type TakeOver = {
  take(parcel: Parcel): void
  /** So much is not written yet that more would only take memory. */
  isBehind(): boolean
  /** When it is, or after some seconds. */
  caughtUp(): Promise<void>
  /** Requests that are being unpacked. */
  settled(): Promise<void>
  /** While the process goes down: answers that have come are recorded before this returns. */
  leave(): void
  end(): Promise<readonly Session[]>
}

/** A call of which something is known. */
type Passing = {
  body: Buffer[]
  /** What happened before the call was begun, in order. */
  waiting: ((call: OpenCall) => void)[]
  call?: OpenCall
}

/** Things that are not written yet, and bytes of requests among them. A request takes several times its bytes when it is read. */
const MOST_BEHIND = 512
const MOST_UNWRITTEN = 4 * 1024 * 1024
const PATIENCE_MS = 5000

const LEFT_OUT = 'more passed than could be recorded: its end is not here'

export function createTakeOver(calls: CallLog): TakeOver {
  const passing = new Map<number, Passing>()
  const opening = new Set<Promise<void>>()
  let unwritten = 0

  const begin = (
    one: Passing,
    { api, method, model, upstream, path, raw, isCut }: AskedFacts,
    at: number,
    body: Json,
  ): void => {
    const facts = { body, headers: toHeaders(raw), path, began: toOwnTime(at) }
    one.call =
      api === undefined
        ? calls.inquire({ ...facts, method })
        : calls.begin({
            ...facts,
            api,
            upstream,
            ...(model !== undefined && { model }),
            ...(isCut && { isUnread: true }),
          })
    for (const what of one.waiting) what(one.call)
    one.waiting = []
  }
  const asked = (one: Passing, facts: AskedFacts, at: number): void => {
    const chunks = facts.isCut ? [] : one.body
    one.body = []
    for (const { length } of chunks) unwritten += length
    const encoding = headerOf(toHeaders(facts.raw), 'content-encoding')
    const body = encoding === undefined ? toText(chunks) : unpacked(chunks, encoding)
    if (typeof body === 'string' && opening.size === 0) return begin(one, facts, at, parseJson(body) ?? null)
    // In the order in which they were asked: a call may go on with the one before it, which takes longer to unpack.
    const before = [...opening]
    const open = (async () => {
      const text = await body
      await Promise.all(before)
      begin(one, facts, at, parseJson(text) ?? null)
    })()
    opening.add(open)
    void open.finally(() => opening.delete(open))
  }
  const tell = ({ call, waiting }: Passing, what: (call: OpenCall) => void): void => {
    if (call === undefined) waiting.push(what)
    else what(call)
  }
  const one = (number: number): Passing => {
    const known = passing.get(number)
    if (known !== undefined) return known
    const fresh: Passing = { body: [], waiting: [] }
    passing.set(number, fresh)
    return fresh
  }
  const take = (kind: Kind, number: number, at: number, bytes: Buffer): void => {
    if (kind === 'request') return void one(number).body.push(Buffer.from(bytes))
    if (kind === 'asked') return asked(one(number), factsOf(bytes) as AskedFacts, at)
    if (kind === 'response') {
      const { status, raw } = factsOf(bytes) as ResponseFacts
      return tell(one(number), (call) => call.response({ status, headers: toHeaders(raw) }))
    }
    if (kind === 'chunk') {
      const own = one(number)
      if (own.call !== undefined) return own.call.chunk(bytes, toOwnTime(at))
      const copy = Buffer.from(bytes)
      return void own.waiting.push((call) => call.chunk(copy, toOwnTime(at)))
    }
    const last = passing.get(number)
    if (last === undefined) return undefined
    passing.delete(number)
    const { isCut, by, reason = '' } = factsOf(bytes) as EndFacts
    return tell(last, (call) => {
      if (by !== undefined) call.broken(by, reason, toOwnTime(at))
      else call.ended(toOwnTime(at), isCut ? LEFT_OUT : undefined)
    })
  }
  const settled = async (): Promise<void> => void (await Promise.all(opening))
  return {
    take: (parcel) => unpack(parcel, take),
    isBehind() {
      if (calls.behind() === 0) unwritten = 0
      return calls.behind() > MOST_BEHIND || unwritten > MOST_UNWRITTEN
    },
    async caughtUp() {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((done) => (timer = setTimeout(done, PATIENCE_MS)))
      await Promise.race([settled().then(() => calls.settled()), late])
      clearTimeout(timer)
      unwritten = 0
    },
    settled,
    leave: () => calls.leave(),
    async end() {
      await settled()
      return calls.end()
    },
  }
}

/** What the other side packed, which is this program. */
function factsOf(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString())
}

/** As Node.js gives them, names in small letters. */
function toHeaders(raw: readonly string[]): Headers {
  const headers = new Map<string, string>()
  const cookies: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase()
    const value = raw[at + 1] as string
    const known = headers.get(name)
    if (name === 'set-cookie') cookies.push(value)
    else headers.set(name, known === undefined ? value : `${known}, ${value}`)
  }
  return { ...Object.fromEntries(headers), ...(cookies.length > 0 && { 'set-cookie': cookies }) }
}

function toText(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString()
}

async function unpacked(chunks: readonly Buffer[], encoding: string): Promise<string> {
  const held = createHeldBytes()
  const decoding = createDecoding(encoding, (chunk) => held.append(chunk, 0, chunk.length))
  for (const chunk of chunks) decoding.push(chunk)
  await decoding.end()
  return held.take()
}
