/** What the proxy's proofs share: a provider on loopback, a client, and what is in the archive afterwards. */
import fs from 'node:fs'
import http, { type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { readSession } from '../src/archive/read-session.ts'
import type { Entry } from '../src/transcript/entry.ts'

export type Provider = { readonly url: string; close(): Promise<void> }

export async function listen(answer: RequestListener): Promise<Provider> {
  const server = http.createServer(answer)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** `everyMs`: streams never end, and say a word this often. */
export function startProvider({ everyMs = 0 } = {}): Promise<Provider> {
  return listen((request, response) => {
    request.resume().on('end', () => {
      const { status, headers, parts } = answerOf(Number(request.headers['x-call']))
      response.writeHead(status, headers)
      const isEndless = everyMs > 0 && parts.length > 1
      const more = (at: number): void => {
        if (at >= parts.length) return void response.end()
        response.write(parts[at])
        if (response.destroyed) return
        if (isEndless) setTimeout(() => more(Math.min(at + 1, WORD)), everyMs)
        else more(at + 1)
      }
      more(0)
    })
  })
}

/** Of a streamed answer's parts. */
const WORD = 2

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly parts: readonly string[]
  readonly body: string
}

/** Streamed when odd, whole when even, an error now and then. */
export function answerOf(call: number): Answer {
  const usage = { input_tokens: 10, output_tokens: 5 }
  const message = { id: `msg_${call}`, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', usage }
  const event = (value: { readonly type: string }): string =>
    `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
  const parts =
    call % 10 === 9
      ? [JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } })]
      : call % 2 === 0
        ? [
            JSON.stringify({
              ...message,
              content: [{ type: 'text', text: `answer ${call}` }],
              stop_reason: 'end_turn',
            }),
          ]
        : [
            event({ type: 'message_start', message: { ...message, content: [] } } as { type: string }),
            event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as {
              type: string
            }),
            ...Array.from({ length: 60 }, (_, n) =>
              event({
                type: 'content_block_delta',
                index: 0,
                delta: { type: 'text_delta', text: `word ${n} ` },
              } as { type: string }),
            ),
            event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as { type: string }),
            event({ type: 'message_stop' }),
          ]
  return {
    status: call % 10 === 9 ? 529 : 200,
    headers: { 'content-type': call % 2 === 1 && call % 10 !== 9 ? 'text/event-stream' : 'application/json' },
    parts,
    body: parts.join(''),
  }
}

const agent = new http.Agent({ keepAlive: false })

export function ask(url: string, call: number): Promise<string> {
  const body = JSON.stringify({
    model: 'claude-sonnet-4-5',
    system: 'Be brief.',
    messages: [{ role: 'user', content: `question ${call}` }],
  })
  return new Promise((resolve, reject) => {
    const request = http.request(
      `${url}/v1/messages`,
      { method: 'POST', agent, headers: { 'x-call': call } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve(Buffer.concat(chunks).toString()))
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

export async function sessionsIn(home: string): Promise<{ statuses: string[]; entries: Entry[] }> {
  const archive = openArchive(home)
  const entries: Entry[] = []
  const statuses: string[] = []
  for (const id of fs.readdirSync(join(home, 'sessions'))) {
    let status = 'unknown'
    for await (const items of readSession(archive, id))
      for (const item of items)
        if (item.type === 'entry') entries.push(item.entry)
        else if (item.type === 'session') status = item.session.status
    statuses.push(status)
  }
  return { statuses, entries }
}
