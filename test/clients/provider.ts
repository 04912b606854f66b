/**
 * A provider on loopback for real clients to talk to: Anthropic's Messages and OpenAI's Responses, streamed and not. It appends
 * what it billed to a ledger, one line a call, before the first byte of the answer: the truth that logs are held against.
 */
import { appendFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { asObject, asString, isObject, type JsonObject } from '../../src/transcript/json.ts'
import { anthropic } from './anthropic-api.ts'
import { chat } from './chat-api.ts'
import { gemini, geminiStream } from './gemini-api.ts'
import { cueOf, type Conversation, type Cue, type Plays, type Step, type ToolUse } from './play.ts'
import { responses } from './responses-api.ts'

/** One API: what its requests say, and how an answer is put. */
export type Api = {
  readonly name: 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini'
  readonly ends: string
  conversation(body: JsonObject): Conversation
  answer(asked: Asked): Answer
}

export type Asked = {
  /** Of this call, among all: what ids and counts are made of. */
  readonly serial: number
  readonly model: string
  readonly step: Step
  readonly uses: readonly { readonly use: ToolUse; readonly input: JsonObject }[]
}

export type Answer = {
  readonly id: string
  readonly usage: JsonObject
  /** What the client has been told of the usage when the stream ends after the first block. */
  readonly toldAtCut: JsonObject | undefined
  readonly body: JsonObject
  readonly events: readonly { readonly name: string; readonly data: JsonObject }[]
  /** How many of the events stand before a cut. */
  readonly beforeCut: number
}

export type Provider = { readonly url: string; close(): Promise<void> }

const APIS: readonly Api[] = [anthropic, responses, chat, gemini, geminiStream]

export async function startProvider(options: {
  readonly plays: Plays
  readonly ledger: string
}): Promise<Provider> {
  const respond = createResponder(options)
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

function createResponder({ plays, ledger }: { readonly plays: Plays; readonly ledger: string }) {
  let serial = 0
  const tries = new Map<string, number>()
  /** For clients that go on with an answer without repeating what came before. */
  const told = new Map<string, Conversation>()

  /** How often a step has come up before: faults and full contexts pass. */
  const triesAt = ({ play, index }: Cue): number => {
    const key = `${play} ${index}`
    const before = tries.get(key) ?? 0
    tries.set(key, before + 1)
    return before
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const body = await readJson(request)
    if (path.endsWith('/count_tokens')) return sendJson(response, 200, { input_tokens: 42 })
    const api = APIS.find(({ ends }) => path.endsWith(ends))
    if (api === undefined) return sendJson(response, path === '/' ? 200 : 404, {})
    const conversation = goneOn(api.conversation(body), told.get(previousOf(body)))
    const cue = cueOf(plays, conversation)
    const tried = triesAt(cue)
    const { fault: trouble = { how: 400, times: 0 }, input, ...rest } = cue.step
    const fault = tried < trouble.times ? trouble.how : undefined
    const step = { ...rest, ...(input !== undefined && tried === trouble.times && { input }) }
    if (typeof fault === 'number') return sendError(response, fault)
    if (step.hears !== undefined && !JSON.stringify(body).includes(step.hears))
      return sendError(response, 400)
    serial += 1
    const uses = (step.tools ?? []).map((use) => ({
      use,
      input: typeof use.input === 'function' ? use.input(conversation.lastResult) : use.input,
    }))
    const answer = api.answer({ serial, model: conversation.model, step, uses })
    told.set(answer.id, { ...conversation, answers: conversation.answers + 1 })
    const isStream = body['stream'] === true || api === geminiStream
    const usage = fault === 'cut' ? answer.toldAtCut : answer.usage
    const row = {
      at: new Date().toISOString(),
      api: api.name,
      id: answer.id,
      model: conversation.model,
      stream: isStream,
      play: cue.play,
      step: cue.index,
      ...(fault === 'cut' && { cut: true }),
      ...(usage !== undefined && { usage }),
    }
    appendFileSync(ledger, `${JSON.stringify(row)}\n`)
    if (!isStream && fault === undefined) return sendJson(response, 200, answer.body)
    await stream(response, answer, step.pauseMs ?? 0, fault === 'cut')
  }
}

function previousOf(body: JsonObject): string {
  const thread = asObject(body['thread'])
  return asString(body['previous_response_id']) ?? asString(thread?.['previous_message_id']) ?? ''
}

function goneOn(now: Conversation, before: Conversation | undefined): Conversation {
  if (before === undefined || now.prompt !== '') return now
  return { ...now, prompt: before.prompt, answers: before.answers + now.answers }
}

async function stream(
  response: ServerResponse,
  { events, beforeCut }: Answer,
  pauseMs: number,
  isCut: boolean,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const shown = isCut ? events.slice(0, beforeCut) : events
  const middle = Math.floor(shown.length / 2)
  for (const [at, { name, data }] of shown.entries()) {
    if (at === middle && pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs))
    response.write(`${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`)
  }
  if (!isCut) return void response.end()
  // A moment for what was written to leave: the client is to have seen it.
  await new Promise((done) => setTimeout(done, 50))
  response.destroy()
}

async function readJson(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const value: unknown = text === '' ? {} : JSON.parse(text)
  return isObject(value) ? value : {}
}

function sendError(response: ServerResponse, status: number): void {
  const type = status === 529 ? 'overloaded_error' : status === 429 ? 'rate_limit_error' : 'api_error'
  sendJson(response, status, { type: 'error', error: { type, message: `a fault of the play: ${status}` } })
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status >= 400 && { 'retry-after': '0' }),
  })
  response.end(JSON.stringify(body))
}
