/**
 * Questions about models and tokens as they pass: no model says anything, so they are no entries and cost nothing. They go on the tape of
 * the session that the same client holds, for replay; those that come before it wait for it, within bounds. What is answered the same
 * again is not written again: some agents ask every few seconds.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createDecoding, type Decoding } from '../../sources/decoding.ts'
import { toJson, type Json } from '../../transcript/json.ts'
import { createHeldBytes } from '../../wire/held-bytes.ts'
import { toInquiry, type TapeInquiryJson } from '../../wire/tape.ts'
import type { Recorder } from '../record.ts'
import { headerOf, type AnswerHead } from './answer.ts'
import type { Client, Headers } from './client.ts'
import type { OpenSession } from './open-sessions.ts'
import type { Tape, TapeDeck } from './tape.ts'

export type InquiryStart = {
  readonly method: string
  /** Path and query, as it was asked. */
  readonly path: string
  /** Null where nothing was sent, or nothing that is JSON. */
  readonly body: Json
  readonly headers: Headers
  /** As `performance.now()` has it. */
  readonly began: number
}

export type OpenInquiry = {
  response(head: AnswerHead): void
  chunk(bytes: Buffer, at?: number): void
  /** All of it has come. */
  end(): Promise<void>
  /** It broke off: there is nothing to give again. */
  drop(): void
}

export type Inquiries = {
  begin(start: InquiryStart, client: Client): OpenInquiry
  /** Those that no session is there for. */
  waiting(): number
  /** A session has begun. `isLast`: none will, and any of them is better than none. */
  settle(isLast?: boolean): Promise<void>
}

type Inquired = {
  readonly client: Client
  readonly line: TapeInquiryJson
  readonly status: number
  /** What it says, unpacked, and as it is written. */
  readonly words: readonly string[]
  readonly played: string
}

/** Of an answer, unpacked; lists of models have some hundred kilobytes. */
const MOST_SAID = 4 * 1024 * 1024
/** That wait for a session: characters of all. */
const MOST_WAITING = 8 * 1024 * 1024
/** Questions of which the last answer is known. */
const MOST_KNOWN = 1000

export function createInquiries(
  tapes: TapeDeck,
  near: (client?: Client) => OpenSession | undefined,
): Inquiries {
  const known = new Map<string, string>()
  let waiting: Inquired[] = []

  const write = ({ line, status, words, played }: Inquired, recorder: Recorder): void => {
    const asked = hashOf(`${recorder.id}\n${toJson(line.inquiry)}`)
    const answered = hashOf(`${status}\n${words[0]}`)
    if (known.get(asked) === answered) return
    known.delete(asked)
    known.set(asked, answered)
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value as string)
    if (recorder.asideRedacted(line)) recorder.aside(words, played)
  }
  const place = async (one: Inquired, isLast: boolean): Promise<void> => {
    const session = near(one.client) ?? (isLast ? near() : undefined)
    if (session !== undefined) return write(one, (await session.begun).recorder)
    waiting.push(one)
    let held = 0
    // The newest are those that the session is about.
    waiting = waiting.toReversed().filter(({ played }) => (held += played.length) <= MOST_WAITING)
    waiting.reverse()
  }
  return {
    begin(start, client) {
      const said = createHeldBytes()
      let answer: { readonly status: number; readonly tape: Tape; readonly decoding: Decoding } | undefined
      let isTooLong = false
      const take = (chunk: Buffer): void => {
        isTooLong ||= said.length + chunk.length > MOST_SAID
        if (!isTooLong) said.append(chunk, 0, chunk.length)
      }
      return {
        response(head) {
          const decoding = createDecoding(headerOf(head.headers, 'content-encoding'), take)
          answer = { status: head.status, tape: tapes.begin(head, start.began), decoding }
        },
        chunk(bytes, at) {
          answer?.tape.push(bytes, at)
          answer?.decoding.push(bytes)
        },
        async end() {
          const call = randomUUID()
          if (answer === undefined) return
          const { status, tape, decoding } = answer
          const played = tape.end(call)
          const problem = await decoding.end()
          if (played === undefined || problem !== undefined || isTooLong) return
          const inquiry = toInquiry(start.method, start.path, start.body)
          const words = [said.take(), played.words]
          await place({ client, status, line: { v: 1, call, inquiry }, words, played: played.line }, false)
        },
        drop: () => void answer?.tape.end(''),
      }
    },
    waiting: () => waiting.length,
    async settle(isLast = false) {
      const all = waiting
      waiting = []
      for (const one of all) await place(one, isLast)
    },
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
