import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReadItem } from '../formats/format.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Call, SessionFacts, UnitFacts } from './session-facts.ts'
import { createUnitReading } from './unit-facts.ts'

const SESSIONS = 400
const CALLS = 40

const entry = (session: number, sequence: number, more: Partial<Entry>): ReadItem => ({
  type: 'entry',
  entry: {
    id: `${session}/${sequence}`,
    source: 'primary',
    sequence,
    kind: 'message',
    at: `2026-02-03T04:05:${String(sequence % 60).padStart(2, '0')}.000Z`,
    blocks: [],
    ...more,
  },
})

/** Calls that each run a command, every third of which fails, each with its result. */
function itemsOf(session: number): readonly ReadItem[] {
  const items: ReadItem[] = [
    {
      type: 'session',
      session: {
        id: `s${session}`,
        native: { agent: 'sample', sessionId: String(session) },
        status: 'completed',
      },
    },
  ]
  for (let n = 0; n < CALLS; n += 1) {
    const callId = `t${session}-${n}`
    items.push(
      entry(session, n * 2, {
        role: 'assistant',
        model: 'm',
        call: { messageId: `m${session}-${n}` },
        usage: { input: 10, output: n, quality: 'reported' },
        blocks: [{ type: 'tool-call', callId, name: 'Bash', input: { command: 'ls' } }],
      }),
      entry(session, n * 2 + 1, {
        role: 'tool',
        blocks: [{ type: 'tool-result', callId, output: 'x', ...(n % 3 === 0 && { isError: true }) }],
      }),
    )
  }
  return items
}

function read(parts: readonly (readonly ReadItem[])[]): {
  readonly calls: readonly Call[]
  readonly facts: UnitFacts
  readonly before: number
} {
  const calls: Call[] = []
  const reading = createUnitReading((some) => void calls.push(...some), 'unit')
  for (const items of parts) reading.add(items)
  const before = calls.length
  return { facts: reading.end(), calls, before }
}

const byKey = (calls: readonly Call[]): readonly Call[] =>
  calls.toSorted((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1))

describe('a unit of many sessions', () => {
  const all = Array.from({ length: SESSIONS }, (_, session) => itemsOf(session))
  const alone = all.map((items) => read([items]))

  it('holds the calls of the last ones only, and counts what each would count by itself', () => {
    const { calls, facts, before } = read(all)
    // What may be open is of entries: half as many are calls.
    expect(calls.length - before).toBeLessThanOrEqual(11_000)
    expect(before).toBeGreaterThan(SESSIONS * CALLS - 11_000)
    expect(byKey(calls)).toEqual(byKey(alone.flatMap((one) => one.calls)))
    expect(facts.sessions).toEqual(alone.flatMap((one) => one.facts.sessions))
    expect(facts.sessions[0]?.work.findings.map(({ kind }) => kind)).toEqual(['repeated-calls'])
  })

  it('tells of its sessions in parts, each after its calls, what it tells of all at once', () => {
    const calls: Call[] = []
    const reading = createUnitReading((some) => void calls.push(...some), 'unit')
    for (const items of all) reading.add(items)
    const parts: SessionFacts[][] = []
    for (let part = reading.part(); part !== undefined; part = reading.part()) {
      parts.push([...part.sessions])
      const told = new Set(parts.flat().map(({ key }) => key))
      expect(calls.filter(({ session }) => told.has(session))).toHaveLength(told.size * CALLS)
    }
    const end = reading.end()
    expect(parts.map(({ length }) => length)).toEqual([200])
    expect({ ...end, sessions: [...parts.flat(), ...end.sessions] }).toEqual(read(all).facts)
    expect(byKey(calls)).toEqual(byKey(alone.flatMap((one) => one.calls)))
  })

  it('tells of each of many thousands, most of which wait on disk, and says of each beyond what it holds that it is missing', () => {
    const reading = createUnitReading(() => {}, 'unit', { mostSessions: 20_000 })
    for (let session = 0; session < 20_002; session += 1) reading.add(itemsOf(session).slice(0, 1))
    // Many formats name a session again when they are done with it.
    for (const session of [20_000, 20_001, 20_000]) reading.add(itemsOf(session).slice(0, 1))
    const told: string[] = []
    const note = (sessions: readonly SessionFacts[]): void =>
      void told.push(...sessions.map(({ session }) => session.id))
    for (let part = reading.part(); part !== undefined; part = reading.part()) note(part.sessions)
    const { sessions, damage } = reading.end()
    note(sessions)
    reading.close()
    expect(told).toEqual(Array.from({ length: 20_000 }, (_, n) => `s${n}`))
    expect(damage).toBe(2)
  })

  it('tells of few in a part where each touched many files', () => {
    const reading = createUnitReading(() => {}, 'unit')
    const input = { file_path: '' }
    for (let session = 0; session < 4; session += 1) {
      reading.add(itemsOf(session))
      for (let n = 0; n < 400; n += 1) {
        const file_path = `/${session}/${n}${'x'.repeat(900)}`
        const block = {
          type: 'tool-call',
          callId: `f${n}`,
          name: 'Read',
          input: { ...input, file_path },
        } as const
        reading.add([entry(session, 1000 + n, { role: 'assistant', blocks: [block] })])
      }
    }
    expect([reading.part()?.sessions.length, reading.part(), reading.end().sessions.length]).toEqual([
      2,
      undefined,
      2,
    ])
  })

  it('counts a session that goes on after many others as one', () => {
    const halves = all.map((items) => [items.slice(0, CALLS), [items[0], ...items.slice(CALLS)]] as const)
    const { facts, calls } = read([
      ...halves.map(([first]) => first),
      ...halves.map(([, rest]) => rest.filter((item) => item !== undefined)),
    ])
    expect(byKey(calls).map(({ key, usage }) => [key, usage])).toEqual(
      byKey(alone.flatMap((one) => one.calls)).map(({ key, usage }) => [key, usage]),
    )
    const sums = facts.sessions.map(({ entries, toolCalls, work }) => [entries, toolCalls, work.failed])
    expect(sums).toEqual(
      alone.flatMap((one) =>
        one.facts.sessions.map(({ entries, toolCalls, work }) => [entries, toolCalls, work.failed]),
      ),
    )
  })
})

describe('a session that others come between', () => {
  /** Enough of them for any session before to be put away. */
  const others = Array.from({ length: 1005 }, (_, n): ReadItem => {
    const native = { agent: 'other', sessionId: String(n) }
    return { type: 'session', session: { id: `o${n}`, native, status: 'completed' } }
  })
  const did = fc.record({
    title: fc.constantFrom('a', 'b'),
    source: fc.constantFrom('primary', 'subagent:a'),
    model: fc.constantFrom('m', 'n', '__proto__'),
    said: fc.constantFrom('/mode', 'do it', ' '),
    name: fc.constantFrom('Edit', '__proto__', 'constructor'),
    file_path: fc.constantFrom('/a', '__proto__', '7'),
    isError: fc.boolean(),
    second: fc.nat(100_000),
    spawned: fc.constantFrom('c1', 'c2'),
    isBilled: fc.boolean(),
    isLeft: fc.boolean(),
  })

  it('is told of as if none had', () => {
    fc.assert(
      fc.property(fc.array(did, { minLength: 1, maxLength: 8 }), (dids) => {
        const items = dids.map((one, n): readonly ReadItem[] => {
          const { title, source, model, name, file_path, isError, second, isBilled } = one
          const callId = `t${n}`
          const shared = { source, at: new Date(1_770_000_000_000 + second * 1000).toISOString() }
          const native = { agent: 'sample', sessionId: '0' }
          return [
            { type: 'session', session: { id: 's', native, title, status: 'completed' } },
            entry(0, n * 3, { ...shared, role: 'user', blocks: [{ type: 'text', text: one.said }] }),
            entry(0, n * 3 + 1, {
              ...shared,
              role: 'assistant',
              model,
              ...(isBilled && {
                call: { messageId: `m${n}` },
                usage: { input: 10, output: n, quality: 'reported' },
              }),
              blocks: [{ type: 'tool-call', callId, name, input: { file_path } }],
            }),
            entry(0, n * 3 + 2, {
              ...shared,
              role: 'tool',
              metadata: { spawned: one.spawned },
              blocks: [{ type: 'tool-result', callId, output: 'x', isError }],
            }),
          ]
        })
        const parted = items.map((some, n) => (dids[n]?.isLeft ? [...some, ...others] : some))
        expect(toldOf(read(parted))).toEqual(toldOf(read(items)))
      }),
      { numRuns: 10 },
    )
  })

  /** But for what it did again and again, and how fine its activity is. */
  function toldOf({ facts, calls }: ReturnType<typeof read>): unknown {
    const [one] = facts.sessions
    const {
      repeats: _repeats,
      rereads: _rereads,
      findings: _findings,
      activity,
      rest,
      ...work
    } = one?.work ?? {}
    return {
      ...one,
      work,
      from: activity?.from,
      busy: activity?.counts.reduce((sum, count) => sum + count, 0),
      rest: Object.entries(rest ?? {}).map(([tool, counts]) => [tool, ...counts.slice(0, 4)]),
      mentions: facts.mentions.filter(({ parent }) => parent?.session === one?.key),
      calls: byKey(calls).map(({ work, ...call }) => ({
        ...call,
        work: work?.map((counts) => counts.slice(0, 4)),
      })),
    }
  }
})

describe('a call', () => {
  it('says what its tool did, though the name of that is cut within a letter', () => {
    const name = `${'x'.repeat(199)}\u{1F600}`
    const { calls, facts } = read([
      [
        ...itemsOf(0).slice(0, 1),
        entry(0, 0, {
          role: 'assistant',
          call: { messageId: 'm' },
          usage: { input: 1, quality: 'reported' },
          blocks: [{ type: 'tool-call', callId: 't', name, input: {} }],
        }),
      ],
    ])
    expect(calls.map(({ work }) => work)).toEqual([[[1, 0, 0, 0, 0, 0]]])
    expect(facts.sessions[0]?.work.rest).toEqual({})
  })
})
