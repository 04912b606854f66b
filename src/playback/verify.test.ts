import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type Question } from '../../test/replay-proofs.ts'
import { openArchive } from '../archive/archive.ts'
import { readSession } from '../archive/read-session.ts'
import { startProxy } from '../capture/proxy/proxy.ts'
import { toUpstreams } from '../capture/proxy/upstreams.ts'
import { citation, type Entry } from '../transcript/entry.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { toJunit } from './junit.ts'
import { openRecording } from './recording.ts'
import { serveRecording } from './server.ts'
import { verdictOf, type Verdict } from './verify.ts'

let home: string
let id: string
let runs = 0
const entries = new Map<string, Entry>()

const use = (n: number, command: string): Json => ({
  type: 'tool_use',
  id: `toolu_${n}`,
  name: 'Bash',
  input: { command },
})
const given = (n: number, content: string): Json => ({
  type: 'tool_result',
  tool_use_id: `toolu_${n}`,
  content,
})
/** What the provider says, in order. */
const ANSWERS: readonly (readonly Json[])[] = [
  [{ type: 'text', text: 'let me look' }, use(1, 'ls'), use(2, 'pwd')],
  [{ type: 'text', text: 'I see a file' }, use(3, 'cat a.txt')],
  [{ type: 'text', text: 'all is well' }],
]

type World = {
  readonly prompt: string
  readonly system: string
  readonly tools: readonly Json[]
  readonly results: readonly (readonly Json[])[]
  readonly answers: readonly (readonly Json[])[]
}
const WORLD: World = {
  prompt: 'please look around',
  system: 'You are a careful agent.',
  tools: [
    { name: 'Bash', description: 'runs a command' },
    { name: 'Read', description: 'reads a file' },
  ],
  results: [[given(1, 'a.txt'), given(2, '/srv')], [given(3, 'hello')]],
  answers: ANSWERS,
}

/** The requests of an agent in such a world. */
function requestsOf({ prompt, system, tools, results, answers }: World): readonly Question[] {
  const messages: Json[] = [{ role: 'user', content: prompt }]
  const body = (): Json => ({ model: 'm', max_tokens: 9, system, tools, messages: [...messages] })
  const all = [body()]
  for (const [at, result] of results.entries()) {
    messages.push({ role: 'assistant', content: answers[at] ?? [] }, { role: 'user', content: result })
    all.push(body())
  }
  return all.map((one) => ({ path: '/anthropic/v1/messages', body: one }))
}

/** Gives the id of a session with these questions and answers. */
async function record(questions: readonly Question[], answers: World['answers']): Promise<string> {
  let asked = 0
  const upstream = http.createServer((request, response) => {
    request.resume().on('end', () => {
      const content = answers[asked % answers.length]
      asked += 1
      const usage = { input_tokens: 1, output_tokens: 1 }
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          id: `msg_${asked}`,
          type: 'message',
          role: 'assistant',
          model: 'm',
          content,
          stop_reason: 'end_turn',
          usage,
        }),
      )
    })
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const proxy = await startProxy({
    upstreams: toUpstreams([`anthropic=${url}`]),
    home,
    runId: `run-${(runs += 1)}`,
  })
  for (const question of questions) await ask(proxy.url, question)
  const [session] = await proxy.close()
  upstream.close()
  return session?.id ?? ''
}

beforeAll(async () => {
  home = fs.mkdtempSync(join(os.tmpdir(), 'hansard-verify-'))
  id = await record(requestsOf(WORLD), ANSWERS)
  for await (const items of readSession(openArchive(home), id))
    for (const item of items) if (item.type === 'entry') entries.set(citation(id, item.entry), item.entry)
})
afterAll(() => {
  fs.rmSync(home, { recursive: true, force: true })
})

async function verify(questions: readonly Question[]): Promise<Verdict> {
  const recording = await openRecording(id, home)
  const server = await serveRecording(recording)
  for (const question of questions) await ask(server.url, question)
  const verdict = await verdictOf(recording, server.report(), { unasked: server.unasked() })
  await server.close()
  recording.close()
  return verdict
}
const cited = (verdict: Verdict): string =>
  toJson(entries.get(verdict.first?.citation ?? '')?.blocks ?? 'none')

describe('an agent that is verified', () => {
  it('is as recorded when it is', async () => {
    expect(await verify(requestsOf(WORLD))).toMatchObject({
      isSame: true,
      divergences: [],
      calls: { recorded: 3, asked: 3, exact: 3 },
    })
  })

  const mutations: readonly (readonly [string, World, string, string, string])[] = [
    [
      'a word of the prompt',
      { ...WORLD, prompt: 'please look about' },
      'request',
      'request',
      'please look around',
    ],
    [
      'the system prompt',
      { ...WORLD, system: 'You are a careless agent.' },
      'request',
      'request',
      'a careful agent',
    ],
    [
      'a tool',
      { ...WORLD, tools: [{ name: 'Shell', description: 'runs a command' }] },
      'request',
      'request',
      'runs a command',
    ],
    [
      'an argument that it says it was given',
      {
        ...WORLD,
        answers: [[{ type: 'text', text: 'let me look' }, use(1, 'ls -l'), use(2, 'pwd')], ANSWERS[1] ?? []],
      },
      'request',
      'answer',
      '"command":"ls"',
    ],
    [
      'what a tool gives',
      { ...WORLD, results: [[given(1, 'a.txt'), given(2, '/srv')], [given(3, 'goodbye')]] },
      'world',
      'tool',
      'toolu_3',
    ],
    [
      'the order of its tools',
      { ...WORLD, tools: WORLD.tools.toReversed() },
      'request',
      'request',
      'reads a file',
    ],
  ]
  it.each(mutations)(
    'parts from the recording by %s, at that entry',
    async (_, world, drift, where, text) => {
      const verdict = await verify(requestsOf(world))
      expect(verdict).toMatchObject({ isSame: false, first: { drift, where } })
      expect(cited(verdict)).toContain(text)
    },
  )

  it('parts from it by asking in another order, less, more, and without end', async () => {
    const [one, two, three] = requestsOf(WORLD) as readonly [Question, Question, Question]
    const order = await verify([one, three, two])
    expect(order.first).toMatchObject({
      drift: 'request',
      call: 3,
      asked: 2,
      what: expect.stringContaining('order'),
    })
    const less = await verify([one, two])
    expect(less.first).toMatchObject({ call: 3, what: 'a recorded call was not asked for' })
    expect(cited(less)).toContain('toolu_3')
    const more = await verify([
      one,
      two,
      three,
      { ...three, body: { ...(three.body as object), max_tokens: 10 } },
    ])
    expect(more.first).toMatchObject({
      drift: 'request',
      asked: 4,
      what: expect.stringContaining('ends before'),
    })
    const again = await verify([one, one, two, three])
    expect(again.first).toMatchObject({ call: 1, asked: 2, what: 'asked more often than it was' })
  })

  it('is told by its own ids to go on with what it began, and is the same', async () => {
    const world = (group: number): World => ({
      ...WORLD,
      results: [[given(1, 'a.txt'), given(2, `Process Group PGID: ${group}`)], [given(3, 'killed')]],
      answers: [ANSWERS[0] ?? [], [use(3, `kill ${group}`)], ANSWERS[2] ?? []],
    })
    const recorded = await record(requestsOf(world(15302)), world(15302).answers)
    const recording = await openRecording(recorded, home)
    const server = await serveRecording(recording)
    const bodies: string[] = []
    for (const question of requestsOf(world(99)))
      bodies.push((await ask(server.url, question)).body.toString())
    expect(bodies[1]).toContain('kill 99')
    expect(await verdictOf(recording, server.report(), { unasked: server.unasked() })).toMatchObject({
      isSame: true,
      calls: { recorded: 3, asked: 3 },
    })
    await server.close()
    recording.close()
  })

  it('is told to CI as JUnit, whatever the words are', async () => {
    const xml = toJunit(await verify(requestsOf({ ...WORLD, prompt: '<&"\u0000]]> look' })))
    expect(xml).toContain('tests="3" failures="3"')
    expect(xml).toContain('request drift, request')
    expect([xml.includes('\u0000'), xml.includes('<&')]).toEqual([false, false])
    expect(toJunit(await verify(requestsOf(WORLD)))).toContain('tests="3" failures="0"')
    const none = await verify([])
    expect(none).toMatchObject({ unasked: [1, 2, 3], first: { call: 1 } })
    expect(toJunit(none)).toContain('tests="3" failures="3"')
  })

  it('is first at what was left out, where something else follows from that', async () => {
    const [first, , third] = requestsOf(WORLD)
    const { first: parted, divergences } = await verify([first as Question, third as Question])
    expect(parted).toMatchObject({ call: 2, what: 'a recorded call was not asked for' })
    expect(divergences).toHaveLength(2)
  })
})
