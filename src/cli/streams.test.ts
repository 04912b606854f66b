import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createOutput } from './streams.ts'

const never = (): NodeJS.WriteStream => {
  throw new Error('Node.js was asked for a stream')
}
const folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-streams-'))

describe.skipIf(process.platform === 'win32')('standard output', () => {
  it('goes to a file as it is, without a stream of Node.js', () => {
    const path = join(folder, 'out')
    const fd = fs.openSync(path, 'w')
    const output = createOutput(fd, never)
    expect(output.isTTY).toBe(false)
    expect(output.columns).toBeUndefined()
    expect(output.write('größer\n')).toBe(true)
    expect(output.write('')).toBe(true)
    fs.closeSync(fd)
    expect(fs.readFileSync(path, 'utf8')).toBe('größer\n')
  })

  it('is whole in a pipe that does not wait for its reader', async () => {
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    const fd = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_NONBLOCK)
    const later = new PassThrough()
    const output = createOutput(fd, () => later as unknown as NodeJS.WriteStream)
    const text = 'aé'.repeat(100_000)
    expect(output.write('first ')).toBe(true)
    expect(output.write(text)).toBe(false)
    output.write(' last')
    const drained = output.drained()
    const inPipe = Buffer.alloc(1_000_000)
    const count = fs.readSync(fd, inPipe)
    const behind = later.read() as Buffer
    await drained
    expect(count).toBeGreaterThan(0)
    expect(Buffer.concat([inPipe.subarray(0, count), behind]).toString()).toBe(`first ${text} last`)
    fs.closeSync(fd)
  })
})
