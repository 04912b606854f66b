import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { proveKills, proveWriters } from './kill-proofs.ts'
import { proveFullSyncDisk } from './sync-proofs.ts'
import { proveFullDisk, proveInjections } from './system-proofs.ts'

it('is tried with the compiled program', () => {
  expect(
    existsSync(new URL('../dist/test/writer-child.js', import.meta.url)),
    'run npm test, which builds first',
  ).toBe(true)
})

it('leaves every acknowledged entry when it is killed at any moment', async () => {
  const proof = await proveKills({ kills: 24 })
  expect(proof.broken).toEqual([])
  expect(proof.counts['acknowledged']).toBeGreaterThan(24)
  expect(proof.counts['lost']).toBe(0)
})

it('keeps the lines of several processes apart and whole', async () => {
  expect((await proveWriters(4, 200)).broken).toEqual([])
})

it('holds its promises when the kernel itself fails a call, where that can be tried', async () => {
  for (const proof of await proveInjections()) {
    if (!('unavailable' in proof))
      expect({ name: proof.name, broken: proof.broken }).toEqual({ name: proof.name, broken: [] })
  }
})

it('goes on where it stopped when a full disk has room again, where that can be tried', async () => {
  const proof = await proveFullDisk()
  if (!('unavailable' in proof)) expect(proof.broken).toEqual([])
})

it('completes, once there is room again, a sync whose disk was full at any step', async () => {
  const proof = await proveFullSyncDisk()
  if ('unavailable' in proof) return
  expect(proof.broken).toEqual([])
  expect(proof.counts['full']).toBeGreaterThan(5)
})
