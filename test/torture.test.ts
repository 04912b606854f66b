/** The torture set: every known way to miscount, read through the public path, exact to the token. */
import { describe, expect, it } from 'vitest'
import { tortureCases } from './torture/cases.ts'
import { measure } from './torture/measure.ts'

const cases = tortureCases.map((one) => [`${one.format}: ${one.name}`, one] as const)

describe('counted exactly', () => {
  it.each(cases)('%s', async (_, one) => {
    const { tally, formats } = await measure(one)
    expect(formats).toEqual((one.open ?? ['.']).map(() => one.format))
    expect(tally).toEqual(one.truth)
  })
})

describe('miscounted by a hasty reader', () => {
  it.each(cases)('%s', (_, one) => {
    expect(one.truth).not.toMatchObject(one.naive.count(one.files))
  })
})
