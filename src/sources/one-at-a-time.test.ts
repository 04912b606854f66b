import { describe, expect, it } from 'vitest'
import type { SourceFile } from '../transcript/source.ts'
import { oneAtATime } from './one-at-a-time.ts'
import type { OpenSource } from './open.ts'

const MB = 1024 * 1024

function sourceOf(chunks: () => AsyncGenerator<Buffer>): OpenSource {
  const file = { path: 'a.json', sizeBytes: 100 * MB, chunks, bytes: async () => Buffer.alloc(0) }
  return {
    list: async () => [file as unknown as SourceFile],
    find: async () => file as unknown as SourceFile,
  } as unknown as OpenSource
}

async function* chunksOf(count: number, chunk: Buffer): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n += 1) yield chunk
}

describe('a source with something large in it', () => {
  it('asks for leave once it comes to it, and not before', async () => {
    let asked = 0
    const enter = async (): Promise<void> => void (asked += 1)
    const short = Buffer.from(`${'x'.repeat(1000)}\n`)
    for (const [chunk, count, isLarge] of [
      [short, 5000, false],
      [Buffer.alloc(MB, 'x'), 5, true],
    ] as const) {
      const [file] = await oneAtATime(
        sourceOf(() => chunksOf(count, chunk)),
        enter,
      ).list()
      asked = 0
      let read = 0
      for await (const one of file?.chunks() ?? []) read += one.length
      expect(read).toBe(chunk.length * count)
      expect(asked > 0).toBe(isLarge)
    }
  })

  it('lets go of what was read before while it is in the middle of one without end', async () => {
    const source = sourceOf(() => chunksOf(30, Buffer.alloc(MB, 'x')))
    const file = await oneAtATime(source, async () => {}).find('a.json')
    let read = 0
    let before: WeakRef<object> | undefined
    for await (const _ of file?.chunks() ?? []) {
      read += 1
      if (read === 3) before = new WeakRef({ said: 'x'.repeat(1000) })
      // A weak reference holds until the turn that made or asked it is over.
      await new Promise((done) => void setImmediate(done))
    }
    expect(read).toBe(30)
    expect(before).toBeDefined()
    expect(before?.deref()).toBeUndefined()
  })

  it('lets go of the rows of a database that were read before others', async () => {
    const rows = async function* () {
      for (let n = 0; n < 30; n += 1) yield Array.from({ length: 1000 }, (_, id) => ({ id }))
    }
    const source = {
      list: async () => [{ path: 'a.db', database: async () => ({ rows }) } as unknown as SourceFile],
    } as unknown as OpenSource
    const [file] = await oneAtATime(source, async () => {}).list()
    const database = await file?.database?.()
    const given: WeakRef<object>[] = []
    for await (const batch of database?.rows('a') ?? []) {
      given.push(new WeakRef(batch))
      await new Promise((done) => void setImmediate(done))
    }
    expect(given).toHaveLength(30)
    expect(given.filter((one) => one.deref() !== undefined).length).toBeLessThan(15)
  })
})
