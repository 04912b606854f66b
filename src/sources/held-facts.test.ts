import { expect, it } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import type { Drift, ReadItem } from '../formats/format.ts'
import { createDriftWatch, vocabulary } from '../formats/drift.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import type { Usage } from '../transcript/usage.ts'
import { heldRaw, heldSession } from './held-facts.ts'
import type { Call } from './session-facts.ts'
import { createUnitReading } from './unit-facts.ts'

const MB = 1024 * 1024
/** 30 MB of texts in all, in what is told of 1,500 entries or sessions. */
const MANY = 1500
/** In memory of its own, as what is read: parts that are put together are there once. */
const long = (n: number): string => Buffer.alloc(20_000, `${n} of it `).toString()

const entry = (sequence: number, more: Partial<Entry>): ReadItem => ({
  type: 'entry',
  entry: { id: `e${sequence}`, source: 'primary', sequence, kind: 'message', blocks: [], ...more },
})
const called = (n: number, callId: string, name = 'Bash', input = {}): ReadItem =>
  entry(n, { role: 'assistant', blocks: [{ type: 'tool-call', callId, name, input }] })
const answer = (n: number, more: Partial<Entry>): ReadItem =>
  entry(n, {
    role: 'assistant',
    call: { messageId: `m${n}` },
    usage: { input: 1, quality: 'reported' },
    ...more,
  })
const session = (n: number, more: Partial<Session> = {}): ReadItem => ({
  type: 'session',
  session: {
    id: `s${n}`,
    native: { agent: 'sample', sessionId: `${n}` },
    status: 'completed',
    startedAt: '2026-02-03T04:05:06.000Z',
    ...more,
  },
})
const patch = (n: number): string => `*** Update File: /p/${n}.ts\n${long(n)}`

/** The last reading is held until there is another. */
function heldBefore(): number {
  createUnitReading(() => {}, 'unit')
  return heldBytes()
}

it.each<[string, (n: number) => readonly ReadItem[]]>([
  ['calls that nothing answers', (n) => [called(n, long(n))]],
  ['names of tools', (n) => [called(n, `c${n}`, long(n))]],
  ['patches that name a file', (n) => [called(n, `c${n}`, 'apply_patch', { patch: patch(n) })]],
  ['messages that wait for their usage', (n) => [answer(n, { call: { messageId: long(n) } })]],
  ['requests', (n) => [answer(n, { call: { requestId: long(n) } })]],
  ['models', (n) => [answer(n, { model: long(n) })]],
  ['providers', (n) => [answer(n, { call: { messageId: `m${n}`, provider: long(n) } })]],
  ['sources', (n) => [{ ...called(n, `c${n}`) }, answer(n, { source: `subagent:${long(n)}` })]],
  [
    'words of a provider',
    (n) => [answer(n, { usage: { input: 1, quality: 'reported', raw: { said: long(n) } } })],
  ],
  [
    'words that a price hangs on',
    (n) => [answer(n, { usage: { input: 1, quality: 'reported', raw: { speed: 'fast', said: long(n) } } })],
  ],
  ['titles', (n) => [session(n, { title: long(n) }), entry(n, {})]],
  ['tags', (n) => [session(n, { tags: { [long(n)]: long(n) } }), entry(n, {})]],
])('%s as long as lines are not held', (_, toItems) => {
  const before = heldBefore()
  const reading = createUnitReading(() => {}, 'unit')
  reading.add([session(0)])
  for (let n = 1; n <= MANY; n += 1) reading.add(toItems(n))
  const held = (heldBytes() - before) / MB
  reading.close()
  // Some MB of what is told of sessions are held before any of it goes to disk.
  expect(held).toBeLessThan(24)
})

it('a call of many tools is held no longer than as many calls of one, and given out with fewer others', () => {
  const before = heldBefore()
  let most = 0
  const reading = createUnitReading((calls) => {
    most = Math.max(most, calls.length)
  }, 'unit')
  reading.add([session(0)])
  const blocks = (n: number) =>
    Array.from({ length: 50 }, (_, at) => ({
      type: 'tool-call' as const,
      callId: `c${n}-${at}`,
      name: `tool ${n} ${at} `.padEnd(190, 'x'),
      input: {},
    }))
  for (let n = 1; n <= 4000; n += 1) reading.add([answer(n, { blocks: blocks(n) })])
  // 200,000 tools, each with some 350 bytes.
  const held = (heldBytes() - before) / MB
  reading.close()
  expect(held).toBeLessThan(25)
  expect(most).toBe(100)
})

it('what a format has that is new is told by names that are not held as long as they are', () => {
  const told: Drift[] = []
  const watch = createDriftWatch(vocabulary({ records: ['line: known'] }), {
    drift: (one) => void told.push(one),
  })
  const before = heldBytes()
  for (let n = 0; n < MANY; n += 1) watch?.record(long(n), {}, long(n))
  expect((heldBytes() - before) / MB).toBeLessThan(4)
  expect(told).toHaveLength(MANY)
})

it('what a session says is held as it is, but for what is longer than anybody reads', () => {
  const plain = { id: 's', status: 'completed', tags: { a: 'b' }, recordings: [{ by: 'x' }] } as const
  expect(heldSession({ ...plain, metadata: { x: 1 }, input: { y: 2 } })).toEqual(plain)
  const usage = { quality: 'reported', raw: { deep: { deeper: { deepest: [{ x: 1 }] } } } } as const
  expect(heldSession({ ...plain, reportedUsage: usage })).toEqual({ ...plain, reportedUsage: usage })
  const cut = heldSession({ ...plain, title: long(1) })
  expect(cut).toEqual({ ...plain, title: long(1).slice(0, 4000) })
})

it('of a session with any number of tags, what it is and where it comes from is held', () => {
  const tags = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`t${n}`, 'x']))
  const parent = { session: 'p', citation: 'p#1', relation: 'subagent' } as const
  const { tags: some = {}, ...others } = heldSession({
    id: 's',
    tags,
    title: long(1),
    parent,
    status: 'failed',
  })
  expect(others).toEqual({ id: 's', title: long(1).slice(0, 4000), parent, status: 'failed' })
  expect(Object.keys(some).length).toBeGreaterThan(400)
  expect(Object.keys(some).length).toBeLessThan(500)
})

it('a provider’s words are held as far as a price hangs on them', () => {
  expect(heldRaw({ input_tokens: 1, service_tier: 'standard' })).toEqual({})
  expect(heldRaw({ speed: 'fast', input_tokens: 1, said: long(1) })).toEqual({ speed: 'fast' })
  const iterations = Array.from({ length: 300 }, (_, n) => ({ type: 'message', input_tokens: n }))
  expect(heldRaw({ iterations })).toEqual({ iterations })
  expect(heldRaw({ iterations: [{ type: 'x'.repeat(1e6) }] })).toBeUndefined()
})

it('a call is one call, however long the provider speaks of it', () => {
  const calls: Call[] = []
  const reading = createUnitReading((some) => calls.push(...some), 'unit')
  const raw = { service_tier: 'priority', note: 'n'.repeat(5000) }
  const report = (usage: Partial<Usage>, tool: string): ReadItem => ({
    type: 'entry',
    entry: {
      id: tool,
      parent: null,
      source: 'primary',
      sequence: 0,
      kind: 'message',
      role: 'assistant',
      call: { messageId: 'm1' },
      usage: { quality: 'reported', raw, ...usage },
      blocks: [{ type: 'tool-call', callId: tool, name: tool, input: {} }],
    },
  })
  reading.add([
    { type: 'session', session: { id: 's', status: 'completed' } },
    report({ input: 100, output: 1 }, 'Read'),
    report({ output: 70 }, 'Bash'),
  ])
  reading.end()
  expect(calls).toHaveLength(1)
  expect(calls[0]).toMatchObject({ usage: { input: 100, output: 70 }, tools: ['Bash', 'Read'] })
})

it('what a unit says of sessions that lie elsewhere is told in parts', () => {
  const reading = createUnitReading(() => {}, 'unit')
  for (let n = 0; n < 5000; n += 1)
    reading.add([
      {
        type: 'session',
        session: {
          id: `s${n}`,
          native: { agent: 'sample', sessionId: `${n}` },
          title: `t${n}`,
          status: 'completed',
        },
      },
    ])
  const parts: number[] = []
  for (let part = reading.part(); part !== undefined; part = reading.part()) parts.push(part.mentions.length)
  const end = reading.end()
  reading.close()
  expect([...parts, end.mentions.length]).toEqual([2000, 2000, 1000])
  expect(end.sessions).toEqual([])
})
