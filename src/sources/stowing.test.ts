import { expect, it } from 'vitest'
import type { Told } from './stowed-facts.ts'
import { createStowing } from './stowing.ts'
import { createWorkFold } from './work.ts'

const told = (key: string): Told => ({
  facts: {
    key,
    session: { id: key, status: 'completed', title: `${'漢'.repeat(20)} ${key}` },
    entries: 1,
    toolCalls: 0,
    work: createWorkFold().end(),
  },
  started: [],
})

it('gives back what was put away, in memory and on disk, in any order and more than once', () => {
  const stowing = createStowing(10_000)
  const all = Array.from({ length: 500 }, (_, n) => told(`s${n}`))
  const stowed = all.map((one) => stowing.put(one))
  expect(new Set(stowed.map((one) => typeof one))).toEqual(new Set(['string', 'number']))
  for (const order of [stowed, stowed.toReversed()])
    expect(order.map((one) => stowing.take(one).facts.key)).toEqual(
      order.map((one) => `s${stowed.indexOf(one)}`),
    )
  expect(stowed.slice(-1).map((one) => stowing.take(one))).toEqual(all.slice(-1))
  stowing.close()
})

it('holds what comes after it was closed, and says of what was on disk that it is gone', () => {
  const stowing = createStowing(0)
  const before = stowing.put(told('a'))
  stowing.close()
  expect(() => stowing.take(before)).toThrow(/gone/)
  expect(stowing.take(stowing.put(told('b'))).facts.key).toBe('b')
})

it('lies where it lay when it is put away again, and anew only when it has doubled', () => {
  const stowing = createStowing(0)
  const others = [told('a'), told('b')]
  let [stowed, other] = others.map((one) => stowing.put(one))
  const places = new Set([stowed])
  for (let n = 1; n <= 2000; n += 1) {
    const more = { ...told('a'), started: Array.from({ length: n }, (_, at) => ({ session: `c${at}` })) }
    stowed = stowing.put(more, stowed)
    other = stowing.put(others[1] as Told, other)
    places.add(stowed)
  }
  expect(places.size).toBeLessThan(12)
  expect([stowed, other].map((one) => stowing.take(one as number).started.length)).toEqual([2000, 0])
  expect(stowing.take(other as number)).toEqual(others[1])
  stowing.close()
})
