import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bestRecording, billedTotals, createBilling, ownerOf, type Bill, type Candidate } from './billing.ts'
import type { Entry } from './entry.ts'
import type { Session } from './session.ts'
import { addUsage, type Usage } from './usage.ts'

type Report = { readonly session: string; readonly entry: Entry }

const answer = (session: string, messageId: string | undefined, usage: Usage, provider?: string): Report => ({
  session,
  entry: {
    id: 'e',
    source: 'primary',
    sequence: 0,
    kind: 'message',
    role: 'assistant',
    blocks: [],
    usage,
    ...(messageId !== undefined && { call: { messageId, ...(provider !== undefined && { provider }) } }),
  },
})

const used = (output: number, quality: Usage['quality'] = 'reported'): Usage => ({
  input: 1,
  output,
  quality,
})

function billed(
  sessions: readonly Pick<Session, 'id' | 'startedAt' | 'parent'>[],
  reports: readonly Report[],
) {
  const billing = createBilling()
  for (const session of sessions) billing.session(session)
  for (const { session, entry } of reports) billing.add(session, entry)
  return billing.bills()
}

const outputs = (bills: readonly Bill[]): readonly string[] =>
  bills.map(({ session, usage }) => `${session}:${usage.output}`).sort()

describe('the owner of a call', () => {
  it('is the session that the others come from, though another began earlier by its clock', () => {
    const fork = { session: 'fork', startedAt: '2026-01-01T00:00:00.000Z', parent: 'root' }
    expect(ownerOf([fork, { session: 'root', startedAt: '2026-01-02T00:00:00.000Z' }])).toBe('root')
  })

  it('is the first to begin, then the first to end, then the smallest id, where nobody says', () => {
    const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`
    expect(
      ownerOf([
        { session: 'b', startedAt: at(2) },
        { session: 'c', startedAt: at(1) },
      ]),
    ).toBe('c')
    expect(
      ownerOf([
        { session: 'a', startedAt: at(1), endedAt: at(5) },
        { session: 'b', startedAt: at(1), endedAt: at(3) },
      ]),
    ).toBe('b')
    expect(ownerOf([{ session: 'b' }, { session: 'a' }])).toBe('a')
    expect(ownerOf([{ session: 'a' }, { session: 'b', startedAt: at(1) }])).toBe('b')
  })

  it('is found among sessions that name each other as parents, or themselves', () => {
    const circle = [
      { session: 'b', parent: 'a' },
      { session: 'a', parent: 'b' },
    ]
    expect(ownerOf(circle)).toBe('a')
    expect(ownerOf([{ session: 'b', parent: 'b' }])).toBe('b')
  })
})

describe('billing', () => {
  it('bills a call that a resume and a fork repeat once, to where they come from', () => {
    const sessions = [{ id: 'fork', parent: { session: 'root' } }, { id: 'root' }]
    const bills = billed(sessions, [
      answer('fork', 'm1', used(9)),
      answer('fork', 'm2', used(5)),
      answer('root', 'm1', used(9)),
    ])
    expect(outputs(bills)).toEqual(['fork:5', 'root:9'])
  })

  it('takes the last word wherever it stands: a copy may have been made before it', () => {
    const sessions = [{ id: 'root' }, { id: 'fork', parent: { session: 'root' } }]
    const bills = billed(sessions, [
      answer('root', 'm1', used(3, 'partial')),
      answer('fork', 'm1', used(120)),
    ])
    expect(bills).toMatchObject([{ session: 'root', usage: { output: 120, quality: 'reported' } }])
  })

  it('takes the last word though a placeholder in another copy is larger', () => {
    const reports = [answer('a', 'm1', used(500, 'partial')), answer('b', 'm1', used(120))]
    for (const order of [reports, reports.toReversed()])
      expect(billed([], order)).toMatchObject([{ session: 'a', usage: { output: 120, quality: 'reported' } }])
  })

  it('bills an answer that nobody counted as such, and takes the counts of a copy that has them', () => {
    const uncounted: Usage = { quality: 'unavailable' }
    const bills = billed(
      [],
      [answer('a', 'm1', used(2)), answer('a', 'm2', uncounted), answer('b', 'm3', uncounted)],
    )
    const totals = billedTotals(bills)
    expect(totals.get('a')).toEqual({
      calls: 1,
      uncounted: 1,
      usage: { input: 1, output: 2, quality: 'partial' },
    })
    expect(totals.get('b')).toEqual({ calls: 0, uncounted: 1 })
    const copied = billed([], [answer('a', 'm1', uncounted), answer('b', 'm1', used(2))])
    expect(billedTotals(copied)).toEqual(new Map([['a', { calls: 1, usage: used(2) }]]))
  })

  it('leaves calls without a name with their sessions', () => {
    expect(outputs(billed([], [answer('a', undefined, used(2)), answer('b', undefined, used(2))]))).toEqual([
      'a:2',
      'b:2',
    ])
  })

  it('keeps the calls of two providers that give out one id apart', () => {
    const bills = billed([], [answer('a', 'm', used(2), 'x'), answer('b', 'm', used(3), 'y')])
    expect(outputs(bills)).toEqual(['a:2', 'b:3'])
  })

  it('says the same in every order, and adds up to the distinct calls', () => {
    const ids = ['s0', 's1', 's2', 's3']
    const id = fc.constantFrom(...ids)
    const time = fc.option(fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'), {
      nil: undefined,
    })
    const candidate = fc.record({ startedAt: time, endedAt: time, parent: fc.option(id, { nil: undefined }) })
    const report = fc.record({
      session: id,
      call: fc.option(fc.constantFrom('m1', 'm2', 'm3'), { nil: undefined, freq: 5 }),
      provider: fc.constantFrom(undefined, 'x', 'y'),
      output: fc.nat(9),
      quality: fc.constantFrom('reported' as const, 'partial' as const),
    })
    const facts = fc.tuple(candidate, candidate, candidate, candidate)
    // Within a session the order means something, so whole sessions are shuffled, and how they alternate.
    const archive = fc
      .tuple(facts, fc.array(report, { maxLength: 12 }))
      .chain(([known, reports]) =>
        fc.tuple(
          fc.constant(known),
          fc.constant(reports),
          fc.shuffledSubarray(ids, { minLength: ids.length }),
        ),
      )
    fc.assert(
      fc.property(archive, ([known, reports, order]) => {
        const sessions = ids.map((session, at) => toSession(session, known[at] as object))
        const entries = reports.map(({ session, call, provider, output, quality }) =>
          answer(session, call, used(output, quality), provider),
        )
        const straight = billed(sessions, entries)
        const mixed = billed(
          sessions.toReversed(),
          order.flatMap((session) => entries.filter((one) => one.session === session)),
        )
        expect(outputs(mixed)).toEqual(outputs(straight))
        const sum = [...billedTotals(straight).values()].reduce((all, { calls }) => all + calls, 0)
        expect(sum).toBe(straight.length)
        const named = new Set(reports.filter(({ call }) => call !== undefined).map(({ call }) => call))
        const unnamed = reports.filter(({ call }) => call === undefined).length
        expect(straight.length).toBeGreaterThanOrEqual(named.size + unnamed)
        expect(straight.length).toBeLessThanOrEqual(named.size * 2 + unnamed)
      }),
    )
  })

  it('gives each session totals that add up to the whole', () => {
    const bills = billed(
      [],
      [answer('a', 'm1', used(2)), answer('b', 'm2', used(3)), answer('b', 'm3', used(4))],
    )
    const totals = billedTotals(bills)
    expect(totals.get('b')).toEqual({ calls: 2, usage: { input: 2, output: 7, quality: 'reported' } })
    const whole = [...totals.values()].map(({ usage }) => usage as Usage).reduce(addUsage)
    expect(whole).toEqual({ input: 3, output: 9, quality: 'reported' })
  })
})

describe('the best recording', () => {
  const totals = (by: string, calls: number, quality?: Usage['quality'], entries = 1) => ({
    by,
    calls,
    entries,
    ...(quality !== undefined && { usage: { quality } }),
  })

  it('is the one with the best counts, then the most calls, the most entries, and by name', () => {
    const best = (...all: ReturnType<typeof totals>[]) => bestRecording(all)?.by
    expect(best(totals('log', 9, 'partial'), totals('proxy', 2, 'reported'))).toBe('proxy')
    expect(best(totals('hook', 9), totals('log', 1, 'estimated'))).toBe('log')
    expect(best(totals('log', 2, 'reported'), totals('proxy', 3, 'reported'))).toBe('proxy')
    expect(best(totals('a', 2, 'reported', 5), totals('b', 2, 'reported', 6))).toBe('b')
    expect(best(totals('b', 2, 'reported'), totals('a', 2, 'reported'))).toBe('a')
    expect(best()).toBeUndefined()
  })
})

function toSession(
  id: string,
  known: Partial<Omit<Candidate, 'session'>>,
): Pick<Session, 'id' | 'startedAt' | 'endedAt' | 'parent'> {
  const { startedAt, endedAt, parent } = known
  return {
    id,
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(parent !== undefined && { parent: { session: parent } }),
  }
}
