/** Before all tests: a temporary folder of their own, so that a suite leaves nothing behind, however a test ended. */
import fs from 'node:fs'
import os from 'node:os'
import { basename, join } from 'node:path'

export function setup(): (() => void) | undefined {
  const before = process.env['TMPDIR']
  const own = `hansard-tests-${process.pid}-`
  // Asked for by each project of the suite.
  if (basename(os.tmpdir()).startsWith(own)) return undefined
  // In lower case: a test makes names that differ in nothing else.
  const folder = join(os.tmpdir(), `${own}${Date.now().toString(36)}`)
  fs.mkdirSync(folder)
  // As the system's own is: a test may go on as another user.
  fs.chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  return () => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
