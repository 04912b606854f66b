/** What is packed and cut off before anything can be unpacked: damage, and never taken for an empty file. */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { toZstd } from '../../test/packages.ts'
import { allFormats as formats } from './formats.ts'
import { importInputs } from './import.ts'
import { openDetected } from './open-detected.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
const log = Buffer.from(claudeLogs(200, { session: ONE, text: randomBytes(300).toString('hex') }))

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

describe.each([
  ['zstd in its first block', toZstd(log).subarray(0, 20_000)],
  ['zstd in its header', toZstd(log).subarray(0, 5)],
  ['gzip in its first block', gzipSync(log).subarray(0, 30)],
  ['gzip in its header', gzipSync(log).subarray(0, 6)],
])('a log that is cut off inside %s', (_, bytes) => {
  const put = (): string => {
    const path = machine.write('logs/rollout.jsonl.packed', '')
    fs.writeFileSync(path, bytes)
    return path
  }
  const problem = {
    cause: 'damage',
    count: 1,
    example: expect.stringContaining('cut off or damaged: nothing of it could be unpacked'),
  }

  it('is told as damage by an import and by a sync, and kept', async () => {
    const path = put()
    const options = { env: {}, userHome: machine.user, cwd: machine.cwd }
    const report = await importInputs(machine.archive(), [{ path }], options)
    expect(report).toMatchObject({ sessions: 0, damage: 1, files: { new: 1 }, problems: [problem] })
    machine.write('other/whole.jsonl', log.toString())
    fs.copyFileSync(path, `${machine.user}/other/cut.jsonl`)
    expect(await machine.sync({ paths: [`${machine.user}/other`] })).toMatchObject({
      sessions: 1,
      damage: 1,
      problems: [problem],
    })
  })

  it('is told as damage by whoever shows it', async () => {
    await expect(openDetected(put(), { formats })).rejects.toMatchObject({
      code: 'not-a-transcript',
      message: expect.stringContaining('nothing of it could be unpacked'),
    })
  })
})

it('an empty file is none, and one of nothing, packed, is as empty as it', async () => {
  const path = machine.write('logs/nothing.jsonl.gz', '')
  for (const bytes of [Buffer.alloc(0), gzipSync(Buffer.alloc(0)), toZstd(Buffer.alloc(0))]) {
    fs.writeFileSync(path, bytes)
    await expect(openDetected(path, { formats })).rejects.toMatchObject({
      code: 'unknown-format',
      message: expect.stringContaining('it is empty'),
    })
  }
})
