import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { interleave } from '../../test/interleaved.ts'
import { nodeFiles, type Files } from '../journal/files.ts'
import { bootId } from '../journal/writer-id.ts'
import { acquireLock, sleepForLock } from './lock.ts'

const home = (): string => fs.mkdtempSync(join(os.tmpdir(), 'hansard-lock-'))
const dead = spawnSync(process.execPath, ['-e', '']).pid
const stale = JSON.stringify({ holder: `${dead}-1-ab`, boot: bootId() })

function tryAcquire(files: Files, folder: string): (() => void) | undefined {
  try {
    return acquireLock(files, folder)
  } catch {
    return undefined
  }
}

describe('the lock', () => {
  it('is held by one at a time, and free again when released', () => {
    const folder = home()
    const release = acquireLock(nodeFiles, folder)
    expect(() => acquireLock(nodeFiles, folder)).toThrow(/held by process \d+/)
    release()
    acquireLock(nodeFiles, folder)()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('of one name does not hold up another of the same folder', () => {
    const folder = home()
    const release = acquireLock(nodeFiles, folder, '.index.lock')
    acquireLock(nodeFiles, folder)()
    expect(() => sleepForLock(nodeFiles, folder, '.index.lock', 20)).toThrow(
      /index\.lock is held by process \d+/,
    )
    release()
    sleepForLock(nodeFiles, folder, '.index.lock', 20)()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('is taken over from a process that died, from another boot, and from a file that says nothing', () => {
    for (const left of [
      stale,
      JSON.stringify({ holder: `${process.pid}-x-ab`, boot: 'another' }),
      'null',
      '',
    ]) {
      const folder = home()
      fs.writeFileSync(join(folder, 'sync.lock'), left)
      acquireLock(nodeFiles, folder)()
      expect(fs.readdirSync(folder)).toEqual([])
    }
  })

  it.each([
    ['a free lock', {}],
    ['a lock left by the dead', { 'sync.lock': stale }],
    ['an empty lock', { 'sync.lock': '' }],
    ['a takeover that was left by the dead', { 'sync.lock': stale, 'sync.lock.takeover': stale }],
  ])('of %s, only one gets hold, whenever another comes', (_, left) => {
    const given = (): string => {
      const folder = home()
      for (const [name, text] of Object.entries(left)) fs.writeFileSync(join(folder, name), text)
      return folder
    }
    const undisturbed = interleave(nodeFiles, 0, () => {})
    acquireLock(undisturbed.files, given())
    const calls = undisturbed.calls()
    for (let call = 1; call <= calls; call += 1) {
      const folder = given()
      let other: (() => void) | undefined
      const counted = interleave(nodeFiles, call, () => {
        other = tryAcquire(nodeFiles, folder)
      })
      const own = tryAcquire(counted.files, folder)
      expect(
        [own, other].filter((held) => held !== undefined),
        `call ${call}`,
      ).toHaveLength(1)
      expect(tryAcquire(nodeFiles, folder)).toBeUndefined()
      own?.()
      other?.()
      acquireLock(nodeFiles, folder)()
      expect(fs.readdirSync(folder)).toEqual([])
    }
    expect(calls).toBeGreaterThan(4)
  })
})
