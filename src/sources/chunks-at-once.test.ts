import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { nodeFiles, type Files } from '../journal/files.ts'
import type { ShortFile } from '../transcript/source.ts'
import { openShort } from './chunks-at-once.ts'
import { openSource } from './open.ts'

const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

function write(name: string, bytes: Buffer): string {
  const path = join(folder, name)
  fs.writeFileSync(path, bytes)
  return path
}

let open = 0
const counted: Files = {
  ...nodeFiles,
  openRead(path) {
    const fd = nodeFiles.openRead(path)
    open += 1
    return fd
  },
  close(fd) {
    nodeFiles.close(fd)
    open -= 1
  },
}

/** A copy of each chunk, as it is there when the next is not asked for yet. */
function* chunksOf({ first, next, leave }: ShortFile): Generator<Buffer> {
  try {
    for (let chunk = first; chunk.length > 0; chunk = next()) yield Buffer.from(chunk)
  } finally {
    leave()
  }
}

const read = (at: string, most = 2_000_000, files = counted): Buffer | undefined => {
  const file = openShort(files, { at, isPacked: false }, most)
  return file && Buffer.concat([...chunksOf(file)])
}

describe('a short file read at once', () => {
  it('gives all of its bytes, whatever their number', () => {
    for (const length of [0, 1, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 1_000_003]) {
      const bytes = Buffer.alloc(length, 'line of a log\n')
      expect(read(write('log.jsonl', bytes))?.equals(bytes)).toBe(true)
    }
  })

  it('is none that is longer than was asked for', () => {
    const path = write('long.jsonl', Buffer.alloc(1001))
    expect(read(path, 1000)).toBeUndefined()
    expect(read(path, 1001)?.length).toBe(1001)
  })

  it('is none that is packed, of which there is no such way in a source either', async () => {
    const path = write('packed.jsonl', gzipSync('{"a":1}\n'))
    expect(read(path)).toBeUndefined()
    const found = await (await openSource(folder)).find('packed.jsonl')
    expect(found?.atOnce?.(2_000_000)).toBeUndefined()
  })

  it('two at a time have memory of their own', () => {
    const [a, b] = [Buffer.alloc(300_000, 'a'), Buffer.alloc(300_000, 'b')]
    const [one, other] = [write('a', a), write('b', b)].map((at) =>
      openShort(nodeFiles, { at, isPacked: false }, 1_000_000),
    )
    if (one === undefined || other === undefined) throw new Error('they are short')
    expect(Buffer.concat([...chunksOf(other)]).equals(b)).toBe(true)
    expect(Buffer.concat([...chunksOf(one)]).equals(a)).toBe(true)
  })

  it('is closed when it is left, half way or at its end, or refused', () => {
    const path = write('left.jsonl', Buffer.alloc(1_000_000, 'x'))
    const half = openShort(counted, { at: path, isPacked: false }, 2_000_000)
    half?.next()
    expect(open).toBe(1)
    half?.leave()
    expect(open).toBe(0)
    for (const at of [path, write('packed.gz', gzipSync('x'))]) read(at, 1000)
    read(path)
    expect(open).toBe(0)
  })

  it('says which file it was that could not be read, at its first chunk or a later one', () => {
    const at = write('bad.jsonl', Buffer.alloc(600_000, 'x'))
    for (const good of [0, 1]) {
      let reads = 0
      const failing: Files = {
        ...counted,
        read(fd, buffer, position) {
          if (reads === good) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
          reads += 1
          return nodeFiles.read(fd, buffer, position)
        },
      }
      const all = (): unknown => read(at, 2_000_000, failing)
      expect(all).toThrow(expect.objectContaining({ name: 'HansardError', code: 'io' }))
      expect(all).toThrow(/bad\.jsonl/)
    }
    expect(open).toBe(0)
  })

  it('is no link, and nothing that is gone', () => {
    const link = join(folder, 'link.jsonl')
    fs.symlinkSync(write('there.jsonl', Buffer.from('{}\n')), link)
    expect(() => read(link)).toThrow(/link\.jsonl/)
    expect(() => read(join(folder, 'gone.jsonl'))).toThrow(expect.objectContaining({ code: 'not-found' }))
  })
})
