import { describe, expect, it } from 'vitest'
import { compare, countsOf, parseLedger, type LedgerRow } from './ledger.ts'

const anthropic = (id: string, output: number, more: object = {}): LedgerRow => ({
  api: 'anthropic',
  id,
  usage: { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: output },
  ...more,
})
const listed = (calls: number, output: number, more: object = {}) => ({
  calls,
  usage: { input: 10 * calls, cacheRead: 4 * calls, output, quality: 'reported' as const, ...more },
})
const all = (): boolean => true

describe('a ledger', () => {
  it('is read line by line, and what is no call is passed over', () => {
    const rows = parseLedger(
      '{"api":"anthropic","id":"m1","usage":{"input_tokens":1},"cut":true}\n\n[]\n{"id":"m2"}\n',
    )
    expect(rows).toEqual([{ api: 'anthropic', id: 'm1', usage: { input_tokens: 1 }, cut: true }])
  })

  it('takes Anthropic’s counts as they stand, with the writes apart', () => {
    const usage = {
      input_tokens: 1,
      cache_read_input_tokens: 2,
      cache_creation_input_tokens: 7,
      cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 3 },
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 5 },
    }
    const counts = { input: 1, cacheRead: 2, cacheWrite5m: 4, cacheWrite1h: 3, output: 9, reasoning: 5 }
    expect(countsOf({ api: 'anthropic', id: 'm', usage })).toEqual(counts)
  })

  it('takes what was cached out of OpenAI’s input', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 5 },
    }
    const counts = { input: 30, cacheRead: 60, cacheWrite5m: 10, output: 9, reasoning: 5 }
    expect(countsOf({ api: 'openai-responses', id: 'r', usage })).toEqual(counts)
  })
})

describe('a comparison', () => {
  it('is equal to the token over several sessions', () => {
    const rows = [anthropic('m1', 5), anthropic('m2', 6), anthropic('m3', 7)]
    expect(compare(rows, all, [listed(1, 5), listed(2, 13)]).differences).toEqual([])
  })

  it('names each count that differs by one', () => {
    const { differences } = compare([anthropic('m1', 5)], all, [listed(1, 6)])
    expect(differences).toEqual(['output: 5 in the ledger, 6 listed'])
  })

  it('differs when a call is counted twice, or not at all', () => {
    expect(compare([anthropic('m1', 5)], all, [listed(2, 5)]).differences[0]).toBe(
      'calls: 1 in the ledger, 2 listed',
    )
    expect(compare([anthropic('m1', 5)], all, []).differences).toHaveLength(4)
  })

  it('leaves out calls that the client’s files do not name, and names them', () => {
    const rows = [anthropic('m1', 5), anthropic('m2', 6)]
    const found = compare(rows, (id) => id === 'm1', [listed(1, 5)])
    expect(found).toMatchObject({ billed: 2, logged: 1, unlogged: [{ id: 'm2' }], differences: [] })
  })

  it('leaves out thinking only where the files have no field for it', () => {
    const thought = anthropic('m1', 5, {
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 4,
        output_tokens: 5,
        output_tokens_details: { thinking_tokens: 3 },
      },
    })
    const without = compare([thought], (name) => name === 'm1', [listed(1, 5)])
    expect(without).toMatchObject({ unsaid: { reasoning: 3 }, differences: [] })
    expect(compare([thought], all, [listed(1, 5)]).differences).toEqual([
      'reasoning: 3 in the ledger, 0 listed',
    ])
    expect(compare([thought], all, [listed(1, 5, { reasoning: 3 })]).differences).toEqual([])
    const heard = compare([thought], (name) => name === 'm1', [listed(1, 5, { reasoning: 3 })])
    expect(heard).toMatchObject({ unsaid: {}, ledger: { reasoning: 3 }, differences: [] })
    expect(compare([thought], (name) => name === 'm1', [listed(1, 5, { reasoning: 2 })]).differences).toEqual(
      ['reasoning: 0 in the ledger, 2 listed'],
    )
  })

  it('does not take a call that was cut for exact', () => {
    const rows = [anthropic('m1', 2, { cut: true })]
    expect(compare(rows, all, [listed(1, 2)]).differences).toEqual(['a call that was cut is listed as exact'])
    expect(compare(rows, all, [listed(1, 2, { quality: 'partial' })]).differences).toEqual([])
  })

  it('expects no count of a call whose client was told none', () => {
    const told = { api: 'openai-responses', id: 'r1', cut: true }
    expect(compare([told], all, []).differences).toEqual([])
  })
})
