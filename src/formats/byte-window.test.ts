import { describe, expect, it } from 'vitest'
import { memoryFileSource } from '../../test/memory-files.ts'
import type { SourceFile } from '../transcript/source.ts'
import { openWindow } from './byte-window.ts'
import { streamPieces } from './list-stream.ts'

const MB = 1024 * 1024

async function fileOf(content: Buffer | string, chunkBytes: number): Promise<SourceFile> {
  const [file] = await memoryFileSource('chat.json', content, { chunkBytes }).list()
  if (file === undefined) throw new Error('no file')
  return file
}

describe('A window over a file', () => {
  it('gives all bytes in order, whatever is let go and however its chunks are cut', async () => {
    const content = Buffer.from(Array.from({ length: 5 * MB }, (_, n) => (n * 7 + (n >> 9)) & 0xff))
    for (const chunkBytes of [999, 300_001, 4 * MB]) {
      const window = openWindow(await fileOf(content, chunkBytes))
      let turn = 0
      for (let from = 0; await window.more(from); turn += 1) {
        const { bytes, base } = window
        expect(bytes.equals(content.subarray(base, base + bytes.length))).toBe(true)
        from = [bytes.length, 0, bytes.length - 10, Math.floor(bytes.length / 2)][turn % 4] as number
      }
      expect(window.base + window.bytes.length).toBe(content.length)
    }
  })

  it('holds records of 32 MB without a copy for each step on the way, one after the other in the same place', async () => {
    const chunk = Buffer.alloc(MB, 'x')
    const file: SourceFile = {
      ...(await fileOf('', 1)),
      async *chunks() {
        for (let n = 0; n < 80; n += 1) yield chunk
      },
    }
    const window = openWindow(file)
    const memory = new Set<ArrayBufferLike>()
    for (let records = 0; records < 2; records += 1) {
      while (window.bytes.length < 32 * MB && (await window.more(0))) memory.add(window.bytes.buffer)
      await window.more(window.bytes.length)
      memory.add(window.bytes.buffer)
    }
    const taken = [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0)
    expect(taken).toBeLessThan(48 * MB)
  })

  it('goes no further than a bad element to tell that it is bad, when the next one shows by its line', async () => {
    const messages = Array.from({ length: 800 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(10_000) }))
    const content = Buffer.from(`{"messages":[\n${messages.join(',\n')}]}`)
    const damagedAt = 1_000_000
    Buffer.from('"{{[\0\0').copy(content, damagedAt)
    let read = 0
    const whole = await fileOf(content, 100_000)
    const file: SourceFile = {
      ...whole,
      async *chunks(options) {
        for await (const chunk of whole.chunks(options)) {
          read += chunk.length
          yield chunk
        }
      },
    }
    let ahead = 0
    let found = 0
    for await (const pieces of streamPieces(file, 'messages'))
      for (const piece of pieces) {
        if (piece.type !== 'element') continue
        found += 1
        ahead = Math.max(ahead, read - piece.element.byteOffset)
      }
    expect(found).toBe(799)
    // A window, and a batch of elements.
    expect(ahead).toBeLessThan(4 * MB)
  })
})
