import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  answered,
  called,
  counted,
  event,
  line,
  meta,
  PARENT,
  read,
  said,
  THREAD,
  totals,
  turn,
} from '../../test/codex-lines.ts'
import { counts, type Counts } from '../../test/torture/codex-lines.ts'
import type { JsonObject } from '../transcript/json.ts'

describe('trap 3: input includes what was cached, and output what was reasoned', () => {
  it('is taken apart, and stands on the last thing the model said', async () => {
    const { entries } = await read(
      meta(),
      said('a'),
      called('c1'),
      answered('c1'),
      counted([100, 80, 30, 10]),
    )
    expect(entries.map(({ usage }) => usage !== undefined)).toEqual([false, false, true, false, false])
    expect(entries[2]?.usage).toMatchObject({
      input: 20,
      cacheRead: 80,
      output: 30,
      reasoning: 10,
      quality: 'reported',
    })
    expect(entries[1]?.call).toEqual(entries[2]?.call)
  })

  it('takes what was written to a cache out of input too', async () => {
    const stated = {
      input_tokens: 100,
      cached_input_tokens: 50,
      cache_write_input_tokens: 30,
      output_tokens: 1,
    }
    const info = { total_token_usage: stated, last_token_usage: stated }
    const { entries } = await read(meta(), event('token_count', { info }))
    expect(entries[1]?.usage).toMatchObject({ input: 20, cacheRead: 50, cacheWrite5m: 30 })
  })

  it('marks counts that contradict each other', async () => {
    const { entries } = await read(meta(), counted([10, 20, 3, 5]))
    expect(entries[1]?.usage).toMatchObject({
      input: 0,
      cacheRead: 10,
      output: 3,
      reasoning: 3,
      quality: 'estimated',
    })
  })
})

describe('a count that is not stated', () => {
  const info = (total: JsonObject, last: JsonObject = total): JsonObject =>
    event('token_count', { info: { total_token_usage: total, last_token_usage: last } })

  it('stays unknown, and what lacks input or output is a lower bound', async () => {
    const { entries } = await read(
      meta(),
      info({ output_tokens: 5, cached_input_tokens: 3 }),
      info({ input_tokens: 9, output_tokens: 7 }, { input_tokens: 9, output_tokens: 2 }),
    )
    expect(entries[1]?.usage).toEqual({
      cacheRead: 3,
      output: 5,
      quality: 'partial',
      raw: { output_tokens: 5, cached_input_tokens: 3 },
    })
    expect(entries[2]?.usage).toMatchObject({ input: 9, output: 2, quality: 'reported' })
    expect(entries[2]?.usage).not.toHaveProperty('cacheRead')
  })

  it('does not make a total that first states it grow by all of it', async () => {
    const { entries } = await read(
      meta(),
      info({ input_tokens: 100, output_tokens: 5 }),
      info(
        { input_tokens: 110, output_tokens: 6, cached_input_tokens: 80 },
        { input_tokens: 10, output_tokens: 1, cached_input_tokens: 4 },
      ),
    )
    expect(entries[2]?.usage).toMatchObject({ input: 6, cacheRead: 4, output: 1, quality: 'reported' })
  })
})

describe('trap 4: the count is a running total', () => {
  it('without which the last call counts, estimated, and once', async () => {
    const alone = (counted: Counts): JsonObject =>
      event('token_count', { info: { last_token_usage: counts(counted) } })
    const all = await read(
      meta(),
      said('a'),
      alone([10, 0, 5, 0]),
      alone([10, 0, 5, 0]),
      said('b'),
      alone([20, 8, 6, 0]),
      said('c'),
      counted([60, 8, 18, 0], [30, 0, 7, 0]),
    )
    expect(totals(all)).toMatchObject({
      calls: 3,
      input: 52,
      cacheRead: 8,
      output: 18,
      quality: 'estimated',
    })
    expect(all.entries[1]?.usage).toMatchObject({ input: 10, quality: 'estimated' })
  })

  it('counts what it grew by', async () => {
    const all = await read(
      meta(),
      said('a'),
      counted([100, 0, 10, 0]),
      said('b'),
      counted([250, 90, 30, 5], [150, 90, 20, 5]),
    )
    expect(totals(all)).toMatchObject({ calls: 2, input: 160, cacheRead: 90, output: 30, reasoning: 5 })
  })

  it('that is repeated counts once', async () => {
    const once = counted([100, 0, 10, 0])
    const all = await read(meta(), said('a'), once, once, said('b'), once)
    // What came after it is a call that nobody counted.
    expect(totals(all)).toMatchObject({ input: 100, output: 10 })
    expect(all.entries.filter(({ usage }) => usage)).toHaveLength(1)
  })

  it('that falls counts the last call', async () => {
    const all = await read(
      meta(),
      said('a'),
      counted([100, 50, 10, 0]),
      said('b'),
      counted([200, 50, 20, 0], [100, 0, 10, 0]),
      said('c'),
      counted([140, 60, 15, 0], [40, 10, 5, 0]),
      said('d'),
      counted([150, 60, 16, 0], [10, 0, 1, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 4, input: 190, cacheRead: 60, output: 26 })
  })

  it('that only says how large the context is counts nothing', async () => {
    const size = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, total_tokens: 9000 }
    const info = { total_token_usage: counts([100, 0, 10, 0]), last_token_usage: size }
    const compacted = line('compacted', { message: '', replacement_history: [said('a')['payload'] ?? null] })
    const all = await read(
      meta(),
      said('a'),
      counted([100, 0, 10, 0]),
      compacted,
      event('token_count', { info }),
    )
    expect(totals(all)).toMatchObject({ calls: 1, input: 100, output: 10 })
    expect(all.entries.filter(({ kind }) => kind === 'message')).toHaveLength(1)
  })

  it('that has no counts but rate limits counts nothing', async () => {
    expect(totals(await read(meta(), event('token_count', { info: null, rate_limits: {} })))).toEqual({
      calls: 0,
    })
  })

  it('goes on after a roll-back: what was undone still cost', async () => {
    const undone = event('thread_rolled_back', { num_turns: 1 })
    const all = await read(
      meta(),
      said('a'),
      counted([100, 0, 10, 0]),
      undone,
      said('b'),
      counted([150, 0, 15, 0], [50, 0, 5, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 2, input: 150, output: 15 })
    expect(all.entries).toHaveLength(6)
  })

  it('goes on after a resume, which states the session again', async () => {
    const all = await read(
      meta(),
      said('a'),
      counted([100, 0, 10, 0]),
      meta(),
      said('b'),
      counted([150, 0, 15, 0], [50, 0, 5, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 2, input: 150, output: 15 })
  })

  it('stands on the count itself where nothing was said, or where it comes too late', async () => {
    const many = Array.from({ length: 600 }, (_, index) => answered(`c${index}`))
    const all = await read(meta(), said('a'), ...many, counted([100, 0, 10, 0]))
    expect(all.entries.at(-1)).toMatchObject({
      kind: 'event',
      usage: { input: 100 },
      call: all.entries[1]?.call,
    })
    expect(totals(all)).toMatchObject({ calls: 1, input: 100 })
  })

  it('begins where the file begins, when the history before it is in another', async () => {
    const base = { history_base: { thread_id: PARENT, end_ordinal_exclusive: 9 } }
    const all = await read(meta(base), said('a'), counted([1100, 0, 110, 0], [100, 0, 10, 0]))
    expect(totals(all)).toMatchObject({ calls: 1, input: 100, output: 10 })
  })

  it('is an older one plus the last call, where it grew by less than that call used', async () => {
    const resumed = await read(
      meta(),
      said('a'),
      counted([100, 0, 10, 0]),
      said('b'),
      counted([150, 0, 15, 0], [50, 0, 5, 0]),
      said('c'),
      counted([300, 0, 40, 0], [200, 0, 30, 0]),
    )
    expect(totals(resumed)).toMatchObject({ calls: 3, input: 350, output: 45 })
  })

  it('comes to the sum of the calls, whatever is written between and again', async () => {
    const call = fc.record({
      type: fc.constant('call' as const),
      input: fc.integer({ min: 1, max: 99 }),
      cached: fc.nat(99),
      output: fc.integer({ min: 1, max: 99 }),
      /** How many of the calls before it the total forgets: a session resumed from a snapshot. */
      forgets: fc.constantFrom(0, 0, 0, 1, 2),
    })
    const other = fc.record({
      type: fc.constantFrom('again' as const, 'compaction' as const, 'limits' as const, 'resume' as const),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(call, other), { maxLength: 12 }), async (steps) => {
        const lines: JsonObject[] = [meta()]
        let known: Counts[] = []
        const sum = (all: readonly Counts[]): Counts =>
          all.reduce<Counts>((a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]], [0, 0, 0, 0])
        const paid: Counts[] = []
        let last: JsonObject | undefined
        for (const step of steps) {
          if (step.type === 'call') {
            const used: Counts = [step.input, Math.min(step.cached, step.input), step.output, 0]
            // Where the total comes out as it was, nothing tells the call from a repeat.
            const kept = known.slice(0, Math.max(0, known.length - step.forgets))
            const isSame = sum([...kept, used])[0] === sum(known)[0]
            known = [...(isSame ? known : kept), used]
            paid.push(used)
            last = counted(sum(known), used)
            lines.push(said('x'), last)
          } else if (step.type === 'again' && last !== undefined) lines.push(last)
          else if (step.type === 'compaction') lines.push(counted(sum(known), [0, 0, 0, 0]))
          else if (step.type === 'limits') lines.push(event('token_count', { info: null }))
          else lines.push(meta())
        }
        const [input, cached, output] = sum(paid)
        const expected = { calls: paid.length, input: input - cached, cacheRead: cached, output }
        if (paid.length > 0) expect(totals(await read(...lines))).toMatchObject(expected)
      }),
    )
  })
})

describe('a usage record', () => {
  const record = (counted: Counts, thread = THREAD): JsonObject =>
    line('token_usage_record', { thread_id: thread, response_id: 'resp_1', usage: counts(counted) })
  const first: Counts = [100, 60, 10, 4]
  const second: Counts = [200, 150, 20, 0]
  const both: Counts = [300, 210, 30, 4]

  it('counts once with the count that repeats it, whichever comes first', async () => {
    const twice = { calls: 2, input: 90, cacheRead: 210, output: 30, reasoning: 4, quality: 'reported' }
    const before = await read(
      meta(),
      said('a'),
      record(first),
      counted(first),
      said('b'),
      record(second),
      counted(both, second),
    )
    expect(totals(before)).toEqual(twice)
    const after = await read(
      meta(),
      said('a'),
      counted(first),
      record(first),
      said('b'),
      counted(both, second),
      record(second),
    )
    expect(totals(after)).toEqual(twice)
    const alone = await read(meta(), said('a'), record(first), said('b'), record(second))
    expect(totals(alone)).toEqual(twice)
  })

  it('leaves to the total what an older version did after it', async () => {
    const mixed = await read(
      meta(),
      said('a'),
      record(first),
      counted(first),
      meta(),
      said('b'),
      counted(both, second),
    )
    expect(totals(mixed)).toMatchObject({ calls: 2, output: 30 })
  })

  it('of another thread is a copy, wherever it stands', async () => {
    const fork = await read(
      meta({ forked_from_id: PARENT }),
      record(first, PARENT),
      turn('gpt-5.5'),
      said('b'),
      record(second),
    )
    expect(totals(fork)).toMatchObject({ calls: 1, output: 20 })
  })
})
