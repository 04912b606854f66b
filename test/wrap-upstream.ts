/** For tests of wrappers: a provider on loopback that answers as it is told, and what was recorded of it. */
import fs from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { readSession } from '../src/archive/read-session.ts'
import type { ReadItem } from '../src/formats/format.ts'
import { outputText, textOf } from '../src/transcript/block.ts'
import type { Entry } from '../src/transcript/entry.ts'

export type Upstream = {
  readonly url: string
  readonly home: string
  /** What recorders complained of. */
  readonly said: string[]
  answer: (request: IncomingMessage, response: ServerResponse) => unknown
  /** All entries of all sessions in the archive, a list for each. */
  sessions(): Promise<readonly (readonly Entry[])[]>
  close(): Promise<void>
}

export async function startUpstream(): Promise<Upstream> {
  const home = fs.mkdtempSync(join(os.tmpdir(), 'wrap-'))
  const server = http.createServer((request, response) => void upstream.answer(request, response))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const upstream: Upstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    home,
    said: [],
    answer: (_, response) => response.end(),
    async sessions() {
      const ids = fs.existsSync(join(home, 'sessions')) ? fs.readdirSync(join(home, 'sessions')).sort() : []
      const archive = openArchive(home)
      return Promise.all(ids.map(async (id) => entriesOf(readSession(archive, id))))
    },
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      fs.rmSync(home, { recursive: true, force: true })
    },
  }
  return upstream
}

async function entriesOf(items: AsyncIterable<readonly ReadItem[]>): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const batch of items)
    for (const item of batch) if (item.type === 'entry') entries.push(item.entry)
  return entries
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** What is said in a session, a line an entry: `user: hello`, `assistant: get({"a":1})`, `tool: 5`. Events are left out. */
export function spoken(entries: readonly Entry[]): string[] {
  return entries
    .filter(({ kind }) => kind === 'message')
    .map(({ role, source, blocks }) => {
      const parts = blocks.map((block) => {
        if (block.type === 'text') return textOf([block])
        if (block.type === 'tool-call') return `${block.name}(${JSON.stringify(block.input)})`
        if (block.type === 'tool-result') return outputText(block)
        if (block.type === 'error') return `error ${block.code ?? ''}`.trim()
        return block.type
      })
      return `${source === 'primary' ? '' : `${source} `}${role ?? 'error'}: ${parts.join(' ')}`
    })
}

export const sse = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

/** An answer of OpenAI's chat API, streamed. */
export const chatStream = (id: string, text: string, [input, output]: readonly [number, number] = [10, 5]) =>
  `${sse(
    ...Array.from(text, (letter) => ({
      id,
      object: 'chat.completion.chunk',
      model: 'gpt-test',
      choices: [{ index: 0, delta: { role: 'assistant', content: letter }, finish_reason: null }],
    })),
    { id, model: 'gpt-test', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    {
      id,
      model: 'gpt-test',
      choices: [],
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    },
  )}data: [DONE]\n\n`

export type ToolUse = { readonly id: string; readonly name: string; readonly arguments: string }

/** An answer of OpenAI's chat API, whole. */
export const chatAnswer = (id: string, content: string | null, tools: readonly ToolUse[] = []): string =>
  JSON.stringify({
    id,
    object: 'chat.completion',
    model: 'gpt-test',
    choices: [
      {
        index: 0,
        finish_reason: tools.length > 0 ? 'tool_calls' : 'stop',
        message: {
          role: 'assistant',
          content,
          ...(tools.length > 0 && {
            tool_calls: tools.map(({ id: callId, ...one }) => ({
              id: callId,
              type: 'function',
              function: one,
            })),
          }),
        },
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  })
