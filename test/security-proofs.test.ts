import { expect, it } from 'vitest'
import { ATTACKS, proveAttack } from './security-proofs.ts'

it.each(ATTACKS)('$name', async (attack) => {
  const { tried, broken } = await proveAttack(attack)
  expect(broken).toEqual([])
  expect(tried).toBeGreaterThan(0)
})
