import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAt, useAtOnce } from './at-once.ts'

let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'hansard-at-once-'))
  fs.writeFileSync(join(folder, 'file'), '0123456789')
  fs.symlinkSync(join(folder, 'file'), join(folder, 'link'))
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

describe('a file read at once', () => {
  const read = (name: string, follow: boolean, offset: number, length: number): string =>
    useAtOnce(join(folder, name), { follow }, (fd) => readAt(fd, offset, length).toString())

  it('gives as many of the bytes as there are, and none from nowhere', () => {
    for (let offset = 0; offset < 12; offset += 1)
      for (let length = 0; length < 12; length += 1)
        expect(read('file', false, offset, length)).toBe('0123456789'.slice(offset, offset + length))
    expect(read('file', false, -1, 5)).toBe('')
    expect(read('file', false, Number.MAX_SAFE_INTEGER, 5)).toBe('')
    expect(useAtOnce(join(folder, 'file'), { follow: false }, (_, sizeBytes) => sizeBytes)).toBe(10)
  })

  it('is reached through a link only where that was asked for', () => {
    expect(read('link', true, 0, 3)).toBe('012')
    expect(() => read('link', false, 0, 3)).toThrow(expect.objectContaining({ name: 'HansardError' }))
  })

  it('is nothing that somebody would have to be waited for', () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    expect(() => read('pipe', true, 0, 1)).toThrow(expect.objectContaining({ code: 'unsafe-path' }))
    expect(() => read('.', true, 0, 1)).toThrow(expect.objectContaining({ code: 'unsafe-path' }))
    expect(() => read('none', true, 0, 1)).toThrow(expect.objectContaining({ code: 'not-found' }))
  })

  it('is closed again, whatever becomes of it', () => {
    let opened = -1
    const fail = (fd: number): never => {
      opened = fd
      throw new Error('no')
    }
    expect(() => useAtOnce(join(folder, 'file'), { follow: true }, fail)).toThrow('no')
    expect(opened).toBeGreaterThan(-1)
    expect(() => fs.fstatSync(opened)).toThrow('EBADF')
  })
})
