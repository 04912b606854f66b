import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeFiles } from '../journal/files.ts'
import { bootId } from '../journal/writer-id.ts'
import { acquireLock } from './lock.ts'

const home = (): string => fs.mkdtempSync(join(os.tmpdir(), 'hansard-lock-'))

describe('the lock', () => {
  it('is held by one at a time, and free again when released', () => {
    const folder = home()
    const release = acquireLock(nodeFiles, folder)
    expect(() => acquireLock(nodeFiles, folder)).toThrow(/held by process \d+/)
    release()
    acquireLock(nodeFiles, folder)()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('is taken over from a process that died, from another boot, and from a file that says nothing', () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid
    for (const left of [
      { holder: `${dead}-1-ab`, boot: bootId() },
      { holder: `${process.pid}-x-ab`, boot: 'another' },
      null,
    ]) {
      const folder = home()
      fs.writeFileSync(join(folder, 'sync.lock'), JSON.stringify(left))
      acquireLock(nodeFiles, folder)()
    }
  })
})
