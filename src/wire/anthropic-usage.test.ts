import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { usage } from '../../test/arbitrary.ts'
import { COUNTS } from '../transcript/usage.ts'
import { anthropicIterations, fromAnthropicUsage, toAnthropicUsage } from './anthropic-usage.ts'

const split = (five: number, hour: number) => ({
  ephemeral_5m_input_tokens: five,
  ephemeral_1h_input_tokens: hour,
})

describe('reading', () => {
  it('takes the counts as they are, for they are disjoint', () => {
    const raw = {
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 500,
      cache_creation: split(20, 10),
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 3 },
      service_tier: 'standard',
    }
    expect(fromAnthropicUsage(raw)).toEqual({
      input: 10,
      cacheRead: 500,
      cacheWrite5m: 20,
      cacheWrite1h: 10,
      output: 7,
      reasoning: 3,
      quality: 'reported',
      raw,
    })
  })

  it('leaves out what is not said, and null is not said', () => {
    const raw = { input_tokens: 1, cache_read_input_tokens: null, output_tokens: -1 }
    expect(fromAnthropicUsage(raw)).toEqual({ input: 1, quality: 'reported', raw })
    expect(fromAnthropicUsage({ output_tokens: null })).toEqual({
      quality: 'unavailable',
      raw: { output_tokens: null },
    })
    expect(fromAnthropicUsage(null)).toEqual({ quality: 'unavailable' })
  })

  it('counts a cache write without a duration as 5 minutes and says that it guessed', () => {
    expect(fromAnthropicUsage({ cache_creation_input_tokens: 9 })).toMatchObject({
      cacheWrite5m: 9,
      quality: 'estimated',
    })
    expect(fromAnthropicUsage({ cache_creation_input_tokens: 0 })).toMatchObject({
      cacheWrite5m: 0,
      quality: 'reported',
    })
  })

  it('adds what the total has beyond the split to 5 minutes and says that it guessed', () => {
    const raw = { cache_creation_input_tokens: 50, cache_creation: split(20, 10) }
    expect(fromAnthropicUsage(raw)).toMatchObject({
      cacheWrite5m: 40,
      cacheWrite1h: 10,
      quality: 'estimated',
    })
  })

  it('prefers the split of the iterations to a guess', () => {
    const raw = {
      cache_creation_input_tokens: 50,
      cache_creation: split(20, 0),
      iterations: [
        { type: 'message', cache_creation: split(20, 0) },
        { type: 'advisor_message', model: 'other', cache_creation: split(99, 0) },
        { type: 'message', cache_creation: split(0, 30) },
      ],
    }
    expect(fromAnthropicUsage(raw)).toMatchObject({ cacheWrite5m: 20, cacheWrite1h: 30, quality: 'reported' })
  })

  it('never calls a partial report better than partial', () => {
    expect(fromAnthropicUsage({ cache_creation_input_tokens: 9 }, 'partial').quality).toBe('partial')
  })
})

describe('iterations', () => {
  it('keeps each with its own model, so that each can be priced', () => {
    const raw = {
      input_tokens: 40,
      iterations: [
        { type: 'message', input_tokens: 10, output_tokens: 1 },
        { type: 'advisor_message', model: 'bigger', input_tokens: 20, output_tokens: 2 },
        { type: 'message', input_tokens: 30, output_tokens: 3 },
      ],
    }
    const iterations = anthropicIterations(raw)
    expect(iterations?.map(({ type, model, usage }) => [type, model, usage.input])).toEqual([
      ['message', undefined, 10],
      ['advisor_message', 'bigger', 20],
      ['message', undefined, 30],
    ])
  })

  it('are absent when the provider states none', () => {
    expect(anthropicIterations({ input_tokens: 1 })).toBeUndefined()
    expect(anthropicIterations({ iterations: [] })).toBeUndefined()
    expect(anthropicIterations(undefined)).toBeUndefined()
  })
})

describe('writing', () => {
  it('gives back the provider’s own object', () => {
    const raw = { input_tokens: 1, output_tokens: 2, service_tier: 'standard', inference_geo: 'us' }
    expect(toAnthropicUsage(fromAnthropicUsage(raw))).toBe(raw)
  })

  it('does not trust a raw object that says other counts', () => {
    const raw = { input_tokens: 100, output_tokens: 5, input_tokens_details: { cached_tokens: 90 } }
    expect(toAnthropicUsage({ input: 10, cacheRead: 90, output: 5, quality: 'reported', raw })).toEqual({
      input_tokens: 10,
      cache_read_input_tokens: 90,
      output_tokens: 5,
    })
  })

  it('reads back the same counts, whichever are known', () => {
    fc.assert(
      fc.property(usage, (before) => {
        const after = fromAnthropicUsage(toAnthropicUsage(before))
        for (const count of COUNTS) expect(after[count]).toBe(before[count])
      }),
    )
  })
})
