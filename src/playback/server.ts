/**
 * Stub replay: a provider on this machine that answers from a recording. What it is asked is compared with what was asked then; each
 * answer says how it was found, and what is not found is an error in the provider's own shape. Nothing is ever asked of anybody else,
 * unless a fork says where.
 */
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRedactor } from '../redact/redactor.ts'
import {
  createMatcher,
  describeAsked,
  type Choice,
  type Match,
  type MatchWay,
} from '../replay/matching/matcher.ts'
import { createNormalisers } from '../replay/matching/normalisers.ts'
import { asBoolean, asObject, asString, type Json } from '../transcript/json.ts'
import type { CallApi } from '../wire/call-apis.ts'
import { toApi } from '../wire/call-paths.ts'
import { createBodyReader } from '../wire/growing-body.ts'
import { refusalOf } from '../wire/local-requests.ts'
import type { PlayedAnswer } from './answer.ts'
import { createInquiries } from './inquiries.ts'
import { readRequest, type LiveRequest } from './live-request.ts'
import { missMessage, otherMessage } from './miss.ts'
import { play, type Speed } from './play.ts'
import { toErrorBody } from './provider-error.ts'
import { isStreamPath, toAsked, type Exchange, type Recording } from './recording.ts'
import { createRedacting } from './redacting.ts'
import { createRenaming, renameIn } from './rename.ts'
import { createReportLog, type ReplayReport, type ReportLog, type Served } from './report.ts'
import { toolsThatRan } from './tool-results.ts'

export type ServeOptions = {
  /** 0 for one that is free. */
  readonly port?: number
  readonly speed?: Speed
  /** The least exact way in which a request may be found. */
  readonly loosest?: MatchWay
  /** How often the same request may be asked again beyond the recording. */
  readonly repeats?: number
  /** Folders that stand for those of the recording. */
  readonly roots?: readonly string[]
  /** Of the recording, the calls that are given; what is none of them goes on live. */
  readonly fork?: { readonly keeps: (index: number) => boolean; readonly forward: Forward }
  readonly onServed?: (served: Served) => void
  /** Told of each answer that was given to a request that was the same. */
  readonly onAnswered?: (answered: Answered) => void
}

export type Answered = {
  readonly live: LiveRequest
  readonly headers: IncomingMessage['headers']
  readonly api: CallApi
  /** Place in the recording. */
  readonly index: number
  readonly answer: PlayedAnswer
}

export type Forward = (request: IncomingMessage, response: ServerResponse, live: LiveRequest) => void

export type ReplayServer = {
  readonly url: string
  readonly port: number
  readonly log: ReportLog
  report(): ReplayReport
  /** Recorded calls that nobody has asked for, by their place. */
  unasked(): readonly number[]
  close(): Promise<void>
}

/** Answers to whoever wants to know that it is there. */
const HEALTH = '/hansard/health'

/** Where a stub of tools that is a program of its own says what it answered. */
export const STUBBED = '/hansard/stubbed'

export async function serveRecording(
  recording: Recording,
  options: ServeOptions = {},
): Promise<ReplayServer> {
  const { speed = 'full', fork, onServed } = options
  const { exchanges, sessions, archive } = recording
  const known = fork === undefined ? exchanges : exchanges.filter((_, index) => fork.keeps(index))
  const roots = [...sessions.flatMap(({ cwd }) => cwd ?? []), ...(options.roots ?? [])]
  const normalisers = createNormalisers({ roots })
  const matcher = createMatcher(known, {
    normalisers,
    ...(options.loosest && { loosest: options.loosest }),
    ...(options.repeats !== undefined && { repeats: options.repeats }),
  })
  const redact = createRedacting(createRedactor({ key: archive.redactionKey(), env: process.env }))
  const bodies = createBodyReader()
  const inquiries = createInquiries(recording.inquiries, normalisers, options.loosest)
  const log = createReportLog(new Date().toISOString())
  /** Ids of the recording that are others in this run, and the other way round. */
  const [names, ownNames] = [new Map<string, string>(), new Map<string, string>()]
  const rename = createRenaming()
  const add = (served: Omit<Served, 'n'>): void => {
    const told = log.add(served)
    onServed?.(told)
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const live = await readRequest(request, bodies)
    if (live === undefined) return void response.destroy()
    const { api } = toApi(live.path)
    const { path } = live
    if (api === undefined || live.method !== 'POST') {
      const said = { path, how: 'other' as const, asked: `${live.method} ${path.slice(0, 200)}` }
      if (fork !== undefined) {
        add({ ...said, reason: 'not-a-call' })
        return fork.forward(request, response, live)
      }
      const inquired = inquiries.choose(live, redact)
      if (inquired !== undefined) {
        const { how, by, inquiry, answer: given } = inquired
        const { session, call } = inquiry
        add({ ...said, matched: how, ...(by && { by }), session, call, from: 'tape' })
        return play(response, given, { speed, said: matchHeaders({ how, ...(by && { by }) }, call, 'tape') })
      }
      add({ ...said, reason: 'not-a-call' })
      const status = live.method === 'HEAD' ? 200 : 404
      return refuse(response, api ?? apiNear(path), status, otherMessage(live.method, path))
    }
    if (live.body === undefined) {
      add({ path, api, how: 'miss', reason: 'not-json' })
      return refuse(response, api, 400, 'hansard replay: the request is no JSON')
    }
    for (const tool of toolsThatRan(live.body)) log.executed(tool)
    const asked = toAsked(api, path, rename(redact(live.body), ownNames))
    const choice = matcher.choose(asked)
    const exchange = 'index' in choice ? known[choice.index] : undefined
    const said = { path, api, asked: describeAsked(asked), ...placeOf(choice, known) }
    if (exchange === undefined && fork !== undefined) {
      add({ ...said, how: 'live' })
      return fork.forward(request, response, live)
    }
    const asking = askingOf(live, api)
    if ('index' in choice)
      for (const [then, now] of choice.names ?? []) {
        names.set(then, now)
        ownNames.set(now, then)
      }
    const kept = exchange?.answer(asking) ?? (await exchange?.remake?.(asking))
    const found = kept && renameIn(kept, names)
    if (exchange === undefined || found === undefined) {
      const served = { ...said, how: 'miss' as const, reason: reasonOf(choice) }
      add(served)
      return refuse(response, api, 400, missMessage(served))
    }
    add({ ...said, how: choice.how, from: found.from })
    if ('index' in choice && choice.how !== 'positional')
      options.onAnswered?.({ live, headers: request.headers, api, index: choice.index, answer: found })
    await play(response, found, { speed, said: matchHeaders(choice, exchange.call, found.from) })
  }

  const server = http.createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, (request, response) => {
    const refusal = refusalOf(request)
    if (refusal !== undefined)
      return void response
        .writeHead(refusal.status, { connection: 'close' })
        .end(`hansard: ${refusal.message}\n`)
    if (request.url === HEALTH) return void response.writeHead(200).end('ok\n')
    if (request.url === STUBBED && request.method === 'POST') return void noteStubbed(request, response, log)
    answer(request, response).catch(() => void response.destroy())
  })
  server.timeout = 0
  server.on('connect', (_, socket) => void socket.end('HTTP/1.1 405 Method Not Allowed\r\n\r\n'))
  // To Codex this says that there is no WebSocket here, and that it should ask as others do.
  server.on(
    'upgrade',
    (_, socket) => void socket.end('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\n\r\n'),
  )
  server.on('clientError', (_, socket) => void socket.destroy())
  await listen(server, options.port ?? 0)
  const { port } = server.address() as AddressInfo
  setImmediate(() => matcher.prepare())
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    log,
    unasked: () => matcher.unasked(),
    report: () =>
      log.report({
        session: sessions[0]?.id ?? '',
        sessions: sessions.map(({ id }) => id),
        unasked: matcher.unasked().length,
        recorded: known.length,
        damaged: recording.damaged,
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function noteStubbed(
  request: IncomingMessage,
  response: ServerResponse,
  log: ReportLog,
): Promise<void> {
  const name = asString(asObject((await readRequest(request))?.body)?.['name'])
  if (name !== undefined) log.stubbed(name.slice(0, 200))
  response.writeHead(204).end()
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** The API whose error a path that is no call may read. */
function apiNear(path: string): CallApi | undefined {
  if (/^\/(google|code-assist)\/|\/v1beta/.test(path)) return 'gemini'
  return path.startsWith('/openai/') ? 'openai-chat' : undefined
}

/** Not to be asked again: the next answer would be the same. */
function refuse(response: ServerResponse, api: CallApi | undefined, status: number, message: string): void {
  const body = JSON.stringify(toErrorBody(api, { status, message }))
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-should-retry': 'false',
      'x-hansard-match': 'miss',
    })
    .end(body)
}

function placeOf(choice: Choice, known: readonly Exchange[]): Partial<Served> {
  const index = 'index' in choice ? choice.index : choice.nearest
  const exchange = index === undefined ? undefined : known[index]
  return {
    ...('by' in choice && choice.by && { by: choice.by }),
    ...('repeat' in choice && choice.repeat !== undefined && { repeat: choice.repeat }),
    ...('isOutOfOrder' in choice && choice.isOutOfOrder && { isOutOfOrder: true }),
    ...(choice.differences && { differences: choice.differences }),
    ...(index !== undefined && { index }),
    ...(exchange && { session: exchange.session, source: exchange.source }),
    ...(exchange?.call !== undefined && { call: exchange.call }),
  }
}

function reasonOf(choice: Choice): NonNullable<Served['reason']> {
  return choice.how === 'miss' ? choice.reason : 'no-answer'
}

function askingOf(
  { body, path }: LiveRequest,
  api: CallApi,
): { api: CallApi; isStream: boolean; model: string } {
  const said: Json | undefined = body
  const isStream = asBoolean(asObject(said)?.['stream']) ?? isStreamPath(path)
  return { api, isStream, model: asString(asObject(said)?.['model']) ?? toApi(path).model ?? 'unknown' }
}

function matchHeaders(
  { how, by, repeat }: Pick<Match, 'by' | 'repeat'> & { readonly how: string },
  call: string | undefined,
  from: 'tape' | 'entries',
): [string, string][] {
  return [
    ['x-hansard-match', how],
    ...(by !== undefined && by.length > 0 ? [['x-hansard-by', by.join(',')] as [string, string]] : []),
    ...(repeat === undefined ? [] : [['x-hansard-repeat', String(repeat)] as [string, string]]),
    ['x-hansard-from', from === 'tape' ? 'recording' : 'regenerated'],
    ...(call === undefined ? [] : [['x-hansard-call', call] as [string, string]]),
  ]
}
