import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addUsage, QUALITIES, type Quality, type Usage } from '../transcript/usage.ts'
import {
  createCallsFold,
  NONE_UNSURE,
  qualityOfCall,
  qualityOfCalls,
  toCallByte,
  withCall,
  type Unsure,
} from './call-bytes.ts'
import { sumMark } from './marks.ts'

const usage = (quality: Quality): Usage => ({ input: 10, output: 5, quality })
const NOT_COUNTED: Usage = { quality: 'unavailable' }

/** The sign of a sum over entries, each a report of a call: what it was before, and what it is now. */
function signOf(reports: readonly (readonly [Usage | undefined, Usage, number?])[]): string {
  const fold = createCallsFold()
  for (const [before, now, source = 0] of reports) fold.add(toCallByte(now, before), source)
  return sumMark(fold.amount())
}

describe('the sum of calls', () => {
  it('is as sure as the worst of them', () => {
    expect(signOf([])).toBe('')
    expect(signOf([[undefined, usage('reported')]])).toBe('')
    for (const [quality, sign] of [
      ['partial', '≥'],
      ['estimated', '~'],
      ['unavailable', '~'],
    ] as const)
      expect(
        signOf([
          [undefined, usage('reported')],
          [undefined, usage(quality)],
          [undefined, usage('reported')],
        ]),
      ).toBe(sign)
  })

  it('does not hold against a call what was known of it before its last word', () => {
    expect(signOf([[undefined, usage('partial')]])).toBe('≥')
    expect(
      signOf([
        [undefined, usage('partial')],
        [usage('partial'), usage('partial')],
        [usage('partial'), usage('reported')],
      ]),
    ).toBe('')
    // Taken back: the stream was cut.
    expect(
      signOf([
        [undefined, usage('reported')],
        [usage('reported'), usage('partial')],
      ]),
    ).toBe('≥')
    expect(
      signOf([
        [undefined, NOT_COUNTED],
        [NOT_COUNTED, usage('reported')],
      ]),
    ).toBe('')
  })

  it('holds against it what never ended, also where something ends that began before it', () => {
    const ofAnother = [usage('partial'), usage('reported'), 1] as const
    expect(signOf([[undefined, usage('partial'), 0], ofAnother])).toBe('≥')
    expect(signOf([ofAnother, [undefined, usage('partial'), 1]])).toBe('≥')
    // Only its second report is among them, which is no surer.
    expect(signOf([[usage('partial'), usage('partial')]])).toBe('≥')
    expect(signOf([[usage('partial'), usage('reported')]])).toBe('')
  })

  it('is a lower bound where something is missing altogether', () => {
    expect(
      signOf([
        [undefined, usage('estimated')],
        [undefined, NOT_COUNTED],
      ]),
    ).toBe('≥')
    const written: Usage = { output: 5, quality: 'reported' }
    expect(signOf([[undefined, written]])).toBe('≥')
    expect(
      signOf([
        [undefined, written],
        [undefined, { input: 0, quality: 'reported' }],
      ]),
    ).toBe('')
  })

  it('has the quality that usages have when they are added up', () => {
    const calls = fc.array(fc.constantFrom(...QUALITIES.map(usage), NOT_COUNTED), { minLength: 1 })
    fc.assert(
      fc.property(calls, (all) => {
        const counts = all.reduce<Unsure>(
          (calls, one) => withCall(calls, toCallByte(one, undefined)),
          NONE_UNSURE,
        )
        const sum = all.reduce(addUsage)
        if (sum.input !== undefined) expect(qualityOfCalls(counts)).toBe(sum.quality)
      }),
    )
  })

  it('knows one call by its own quality', () => {
    expect(QUALITIES.map((quality) => qualityOfCall(toCallByte(usage(quality), undefined)))).toEqual(
      QUALITIES,
    )
    expect([qualityOfCall(0), qualityOfCall(toCallByte(NOT_COUNTED, undefined))]).toEqual([
      undefined,
      undefined,
    ])
  })
})
