import { expect, it } from 'vitest'
import { proveReplay } from './replay-proofs.ts'

it('gives back what was recorded byte for byte: every API, streamed and whole, errors and what followed them', async () => {
  const { broken, counts } = await proveReplay(110)
  expect(broken).toEqual([])
  expect(counts['exact']).toBe(110)
})
