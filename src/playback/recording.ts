/**
 * A recording as a replay needs it: every call that was made, with what was asked and what was answered, in the order of each lane. From
 * the tapes where there are any; what they lack is made again from the entries, and says so.
 */
import type { Archive } from '../archive/archive.ts'
import type { Asked } from '../replay/matching/keys.ts'
import type { RecordedCall } from '../replay/matching/matcher.ts'
import type { Json } from '../transcript/json.ts'
import type { CallApi } from '../wire/call-apis.ts'
import { toApi } from '../wire/call-paths.ts'
import { createRequestReader, type RequestReader } from '../wire/tape-requests.ts'
import type { TapeJson, TapeRequestJson } from '../wire/tape.ts'
import type { PlayedAnswer } from './answer.ts'
import { readCalls, type EntryCall, type SessionCalls } from './entry-calls.ts'
import type { Inquiry } from './inquiries.ts'
import { findRecorded, type RecordedSession } from './recorded-sessions.ts'
import { regenerate } from './regenerate.ts'
import type { TapeFile } from './tape-file.ts'

export type Exchange = RecordedCall & {
  readonly session: string
  readonly source: string
  readonly call?: string
  readonly api?: CallApi
  readonly from: 'tape' | 'entries'
  /** Undefined where nothing was recorded of an answer, or nothing can be made for this API. */
  answer(live: Asking): PlayedAnswer | undefined
  /** The same from the entries, for a line of the tape that turns out to be damaged. */
  remake?(live: Asking): Promise<PlayedAnswer | undefined>
}

export type Asking = { readonly api: CallApi; readonly isStream: boolean; readonly model: string }

export type Recording = {
  readonly archive: Archive
  /** The session that was named, and those of its run. */
  readonly sessions: readonly RecordedSession[]
  readonly exchanges: readonly Exchange[]
  /** Questions about models and tokens, in the order in which they were asked. */
  readonly inquiries: readonly Inquiry[]
  /** Lines of tapes and journals that could not be read. */
  readonly damaged: number
  /** What the entries of a session say of its calls; read when it is first needed. */
  calls(session: string): Promise<SessionCalls>
  close(): void
}

export async function openRecording(named: string, home?: string): Promise<Recording> {
  const { archive, sessions } = await findRecorded(named, home)
  const read = new Map<string, Promise<SessionCalls>>()
  const calls = (id: string): Promise<SessionCalls> => {
    const session = sessions.find((one) => one.id === id) as RecordedSession
    const known = read.get(id) ?? readCalls(id, session.read())
    read.set(id, known)
    return known
  }
  const exchanges: Exchange[] = []
  const inquiries: Inquiry[] = []
  let damaged = 0
  for (const session of sessions) {
    const { tapes } = session
    damaged += tapes.reduce((sum, tape) => sum + tape.damaged, 0)
    for (const tape of tapes) inquiries.push(...inquiriesOf(session.id, tape))
    const own = tapes.flatMap((tape) => ofTape(tape))
    const isWhole = own.length > 0 && own.every(({ hasAnswer }) => hasAnswer) && tapes.every(isPaired)
    const told = isWhole ? undefined : await calls(session.id)
    if (told !== undefined) damaged += told.damaged
    const entriesOf = async (call: string): Promise<EntryCall | undefined> =>
      (await calls(session.id)).calls.find((one) => one.call === call)
    exchanges.push(...joined(session.id, own, told?.calls ?? [], { tapes, entriesOf }))
  }
  return {
    archive,
    sessions,
    exchanges,
    inquiries,
    damaged,
    calls,
    close: () => {
      for (const { tapes } of sessions) for (const tape of tapes) tape.close()
    },
  }
}

type Taped = {
  readonly line: TapeRequestJson
  readonly asked: () => Asked | undefined
  readonly hasAnswer: boolean
  readonly tape: TapeFile
}

function ofTape(tape: TapeFile): readonly Taped[] {
  const bodies = createBodies(tape.requests)
  return tape.requests.map((line, at) => {
    const { api, path } = line.request
    return {
      line,
      tape,
      hasAnswer: tape.answered.has(line.call),
      asked() {
        const body = bodies(at)
        return body === undefined ? undefined : toAsked(api, path, body)
      },
    }
  })
}

function inquiriesOf(session: string, tape: TapeFile): readonly Inquiry[] {
  return tape.inquiries.map(({ call, inquiry }) => ({
    ...inquiry,
    session,
    call,
    answer: () => played(tape.answer(call)),
  }))
}

/** An answer whose request is not there was recorded before requests were. */
function isPaired({ requests, inquiries, answered }: TapeFile): boolean {
  const asked = new Set([...requests, ...inquiries].map(({ call }) => call))
  return [...answered].every((call) => asked.has(call))
}

/** As a request is compared: what only its path says is with it. */
export function toAsked(api: CallApi, path: string | undefined, body: Json): Asked {
  const { model } = toApi(path ?? '')
  const isByPath = api === 'gemini' || api === 'bedrock-invoke' || api === 'bedrock-converse'
  return {
    api,
    body,
    ...(model !== undefined && { model }),
    ...(isByPath && path !== undefined && { isStream: isStreamPath(path) }),
  }
}

export function isStreamPath(path: string): boolean {
  return /:stream|-stream$/i.test(path)
}

/** Whole bodies by their place. Lanes are read apart; going forward in one, each costs what it adds. */
function createBodies(lines: readonly TapeRequestJson[]): (at: number) => Json | undefined {
  const lanes = new Map<
    string,
    { readonly own: TapeRequestJson[]; reader: RequestReader; next: number; last?: Json | undefined }
  >()
  const places = lines.map((line) => {
    const lane = lanes.get(line.request.lane) ?? { own: [], reader: createRequestReader(), next: 0 }
    lanes.set(line.request.lane, lane)
    lane.own.push(line)
    return { lane, at: lane.own.length - 1 }
  })
  return (wanted) => {
    const place = places[wanted]
    if (place === undefined) return undefined
    const { lane, at } = place
    if (at < lane.next - 1) {
      lane.reader = createRequestReader()
      lane.next = 0
    }
    for (; lane.next <= at; lane.next += 1)
      lane.last = lane.reader.read(lane.own[lane.next] as TapeRequestJson)
    return lane.last
  }
}

function joined(
  session: string,
  taped: readonly Taped[],
  told: readonly EntryCall[],
  {
    tapes,
    entriesOf,
  }: {
    readonly tapes: readonly TapeFile[]
    readonly entriesOf: (call: string) => Promise<EntryCall | undefined>
  },
): readonly Exchange[] {
  const byCall = new Map(told.flatMap((one) => (one.call === undefined ? [] : [[one.call, one] as const])))
  const asked = new Set(taped.map(({ line }) => line.call))
  const first = taped.map(({ line, asked: request, tape, hasAnswer }): Exchange => {
    const { call } = line
    const entry = byCall.get(call)
    return {
      session,
      source: line.request.lane,
      lane: `${session} ${line.request.lane}`,
      call,
      api: line.request.api,
      asked: request,
      ...(entry && { turn: entry.turn }),
      from: hasAnswer ? 'tape' : 'entries',
      answer: (live) => played(hasAnswer ? tape.answer(call) : undefined) ?? made(entry, live),
      remake: async (live) => made(await entriesOf(call), live),
    }
  })
  const rest = told.filter(({ call }) => call === undefined || !asked.has(call))
  const others = rest.map((entry): Exchange => {
    const { call, source, turn } = entry
    const tape = tapes.find(({ answered }) => call !== undefined && answered.has(call))
    return {
      session,
      source,
      lane: `${session} ${source}`,
      turn,
      ...(call !== undefined && { call }),
      from: tape === undefined ? 'entries' : 'tape',
      answer: (live) => played(call === undefined ? undefined : tape?.answer(call)) ?? made(entry, live),
    }
  })
  return [...first, ...others]
}

function played(tape: TapeJson | undefined): PlayedAnswer | undefined {
  if (tape === undefined) return undefined
  return {
    status: tape.status,
    headers: tape.headers,
    frames: tape.chunks.map(([ms, data]) => [ms, Buffer.from(data, 'base64')] as const),
    isBroken: tape.broken !== undefined,
    from: 'tape',
  }
}

function made(entry: EntryCall | undefined, live: Asking): PlayedAnswer | undefined {
  if (entry === undefined || entry.answer.isMissing === true) return undefined
  const { error, blocks } = entry.answer
  // Nobody answered: the connection broke before anything came.
  if (blocks.length === 0 && error?.code?.startsWith('broken-by-') === true)
    return { status: 0, headers: [], frames: [], isBroken: true, from: 'entries' }
  return regenerate(entry.answer, live)
}
