import { expect, it } from 'vitest'
import { proveProxyKills } from './proxy-kills.ts'
import { proveProxyBytes, proveProxyFailures } from './proxy-proofs.ts'

it('lets every byte through whatever fails inside, and says that it failed', async () => {
  const { broken, counts } = await proveProxyFailures(3, 'here')
  expect(broken).toEqual([])
  expect(counts['failures']).toBeGreaterThanOrEqual(30)
})

it('passes on every byte of every API, and records what was meant', async () => {
  expect((await proveProxyBytes(120)).broken).toEqual([])
})

it('has what was asked, whenever it is killed', async () => {
  expect((await proveProxyKills(5)).broken).toEqual([])
})
