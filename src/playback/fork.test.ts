import fs from 'node:fs'
import http, { type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type Question } from '../../test/replay-proofs.ts'
import { openArchive } from '../archive/archive.ts'
import { readSession } from '../archive/read-session.ts'
import { startProxy } from '../capture/proxy/proxy.ts'
import { toUpstreams } from '../capture/proxy/upstreams.ts'
import { citation, parseCitation, type Citation, type Entry } from '../transcript/entry.ts'
import { parseJson, type Json } from '../transcript/json.ts'
import { findForkPoint, forwardTo } from './fork.ts'
import { editRequest, type Edits } from './fork-edits.ts'
import { openRecording } from './recording.ts'
import { serveRecording } from './server.ts'

let home: string
let upstream: Server
let url: string
let id: string
let asked: string[] = []
const entries: Entry[] = []

const thinking = { type: 'thinking', thinking: 'hm', signature: 'sig-of-m' }
const use = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' }
const first = { role: 'user', content: 'look around' }
const history: readonly Json[] = [
  first,
  { role: 'assistant', content: [thinking, use] },
  { role: 'user', content: [result] },
]
const question = (messages: readonly Json[]): Question => ({
  path: '/anthropic/v1/messages',
  body: { model: 'm', max_tokens: 9, thinking: { type: 'enabled' }, messages },
})

beforeAll(async () => {
  home = fs.mkdtempSync(join(os.tmpdir(), 'hansard-fork-'))
  upstream = http.createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      asked.push(body)
      const content = body.includes('tool_result')
        ? [{ type: 'text', text: `answer ${asked.length}` }]
        : [thinking, use]
      const message = {
        id: `msg_${asked.length}`,
        type: 'message',
        role: 'assistant',
        model: 'm',
        content,
        usage: {},
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
    })
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const proxy = await startProxy({ upstreams: toUpstreams([`anthropic=${url}`]), home })
  await ask(proxy.url, question([first]))
  await ask(proxy.url, question(history))
  id = (await proxy.close())[0]?.id ?? ''
  for await (const items of readSession(openArchive(home), id))
    for (const item of items) if (item.type === 'entry') entries.push(item.entry)
})
afterAll(() => {
  upstream.close()
  fs.rmSync(home, { recursive: true, force: true })
})

const entryWith = (text: string): Citation => {
  const found = entries.find(
    ({ kind, blocks }) => kind === 'message' && JSON.stringify(blocks).includes(text),
  ) as Entry
  return parseCitation(citation(id, found)) as Citation
}

/** The agent again, forked at an entry: what it heard, what the provider was asked, and what was recorded. */
async function forked(at: Citation, edits: Edits = {}) {
  asked = []
  const recording = await openRecording(id, home)
  const point = await findForkPoint(recording, at)
  const proxy = await startProxy({
    upstreams: toUpstreams([`anthropic=${url}`]),
    home,
    parent: { session: point.session, citation: point.citation, relation: 'fork' },
  })
  const server = await serveRecording(recording, {
    fork: { keeps: point.keeps, forward: forwardTo(proxy.url, point, edits) },
  })
  const heard = [await ask(server.url, question([first])), await ask(server.url, question(history))]
  await server.close()
  recording.close()
  return {
    how: heard.map(({ headers }) => headers['x-hansard-match']),
    said: heard.map(({ body }) => parseJson(body.toString())),
    asked: asked.map((body) => JSON.parse(body)),
    sessions: await proxy.close(),
    point,
  }
}

describe('a fork', () => {
  it('gives recorded answers up to the entry, then goes on live as a session that names its origin', async () => {
    const at = entryWith('a.txt')
    const { how, said, sessions, asked: live } = await forked(at)
    expect(how).toEqual(['exact', 'live'])
    expect(said[1]).toMatchObject({ content: [{ text: 'answer 1' }] })
    expect(live).toHaveLength(1)
    expect(sessions).toMatchObject([
      { parent: { session: id, citation: citation(id, at), relation: 'fork' } },
    ])
    expect(sessions[0]?.id).not.toBe(id)
  })

  it('is live from the first request on where the entry is the first prompt, and recorded to the end at the last answer', async () => {
    expect((await forked(entryWith('look around'))).how).toEqual(['live', 'live'])
    expect((await forked(entryWith('answer 2'))).how).toEqual(['exact', 'exact'])
    await expect(forked({ session: id, source: 'primary', sequence: 999 })).rejects.toThrow(/no entry/)
  })

  it('asks another prompt, with another result, of another model without what the old one signed', async () => {
    const prompt = await forked(entryWith('look around'), { prompt: 'look away' })
    expect(prompt.asked[0].messages[0].content).toBe('look away')
    const given = await forked(entryWith('a.txt'), { result: 'b.txt' })
    expect(given.asked[0].messages[2].content[0]).toMatchObject({ tool_use_id: 'toolu_1', content: 'b.txt' })
    const model = await forked(entryWith('a.txt'), { model: 'other' })
    expect(model.asked[0]).toMatchObject({ model: 'other', thinking: { type: 'enabled' } })
    expect(model.asked[0].messages[1].content).toEqual([use])
  })

  it('strips what was signed in every API', () => {
    const edit = (body: Json) => editRequest(body, {}, { model: 'other' })
    expect(
      edit({
        model: 'm',
        input: [
          { type: 'reasoning', encrypted_content: 'x' },
          { role: 'user', content: 'q' },
        ],
      }),
    ).toEqual({
      model: 'other',
      input: [{ role: 'user', content: 'q' }],
    })
    expect(edit({ contents: [{ role: 'model', parts: [{ text: 'a', thoughtSignature: 's' }] }] })).toEqual({
      model: 'other',
      contents: [{ role: 'model', parts: [{ text: 'a' }] }],
    })
    expect(editRequest({ a: 1 }, {}, {})).toBeUndefined()
  })
})
