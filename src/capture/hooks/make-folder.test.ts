import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stopwatch } from '../../../test/stopwatch.ts'
import { makeFolder } from './make-folder.ts'

it('makes a folder and those that it lies in, for nobody else to read', () => {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'make-folder-'))
  const deep = join(folder, 'a', 'b', 'c')
  makeFolder(deep)
  makeFolder(deep)
  expect(fs.statSync(deep).isDirectory()).toBe(true)
  if (process.platform !== 'win32') expect(fs.statSync(join(folder, 'a')).mode & 0o777).toBe(0o700)
  fs.rmSync(folder, { recursive: true })
})

it.runIf(process.platform === 'linux')('says at once that nothing can be made where the system lies', () => {
  for (const path of ['/proc/hooks', '/proc/hooks/queue/deep']) {
    const spent = stopwatch()
    expect(() => makeFolder(path)).toThrow(/ENOENT|EACCES|EPERM|EROFS/)
    expect(spent()).toBeLessThan(500)
  }
})
