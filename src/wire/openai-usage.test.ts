import { describe, expect, it } from 'vitest'
import { fromOpenAiUsage } from './openai-usage.ts'

describe('OpenAI usage', () => {
  it('takes cached and written tokens out of the prompt, which includes them', () => {
    const raw = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 15 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 10 },
      total_tokens: 130,
    }
    expect(fromOpenAiUsage(raw)).toEqual({
      input: 25,
      cacheRead: 60,
      cacheWrite5m: 15,
      output: 30,
      reasoning: 10,
      quality: 'reported',
      raw,
    })
  })

  it('leaves reasoning inside output', () => {
    const raw = {
      prompt_tokens: 1,
      completion_tokens: 78,
      completion_tokens_details: { reasoning_tokens: 64 },
    }
    expect(fromOpenAiUsage(raw)).toMatchObject({ output: 78, reasoning: 64 })
  })

  it('does not make up details that are not stated', () => {
    const usage = fromOpenAiUsage({ prompt_tokens: 9, completion_tokens: 1 })
    expect(usage).toMatchObject({ input: 9, output: 1, quality: 'reported' })
    expect('cacheRead' in usage || 'reasoning' in usage).toBe(false)
  })

  it('never counts more than the prompt when its details contradict it, and says so', () => {
    const raw = { input_tokens: 5136, input_tokens_details: { cached_tokens: 10192 }, output_tokens: 201 }
    expect(fromOpenAiUsage(raw)).toMatchObject({
      input: 0,
      cacheRead: 5136,
      output: 201,
      quality: 'estimated',
    })
  })

  it('is unavailable without counts', () => {
    expect(fromOpenAiUsage(null)).toEqual({ quality: 'unavailable' })
    expect(fromOpenAiUsage({})).toEqual({ quality: 'unavailable', raw: {} })
  })
})
