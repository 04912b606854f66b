import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Said } from './placing.ts'
import { createToldMessages } from './told-messages.ts'

const said = (text: string): Said => ({ kind: 'message', role: 'user', blocks: [{ type: 'text', text }] })

it('tells each message as often as the call that says it most often', () => {
  const some = fc.array(fc.constantFrom('a', 'b'), { maxLength: 12 })
  fc.assert(
    fc.property(fc.array(fc.record({ call: some, answer: fc.constantFrom('a', 'b', 'c') })), (calls) => {
      const told = createToldMessages()
      const counts = new Map<string, number>()
      for (const { call, answer } of calls) {
        const news = told.news(call.map(said)).length
        let expected = 0
        for (const text of new Set(call)) {
          const here = call.filter((one) => one === text).length
          const before = counts.get(text) ?? 0
          expected += Math.max(0, here - before)
          counts.set(text, Math.max(here, before))
        }
        expect(news).toBe(expected)
        told.tell(said(answer))
        counts.set(answer, (counts.get(answer) ?? 0) + 1)
      }
    }),
    { numRuns: 100 },
  )
})

it('takes a few steps for what was said a hundred thousand times', () => {
  const told = createToldMessages()
  for (let n = 0; n < 100_000; n += 1) told.tell(said('again'))
  expect(told.news([said('again'), said('new')])).toEqual([said('new')])
})

it('tells long messages apart by all that they say', () => {
  const told = createToldMessages()
  const long = 'wörld '.repeat(200_000)
  const [middle, end] = [`${long}a${long}`, `${long}${long}a`]
  expect(told.news([said(middle), said(end)])).toHaveLength(2)
  expect(told.news([said(middle), said(end), said(`${long}b${long}`)])).toHaveLength(1)
})
