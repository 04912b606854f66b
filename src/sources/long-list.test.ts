/** A list that lies on disk. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { createLongList, openLongList } from './long-list.ts'
import { collect } from './one-at-a-time.ts'

it('has what was added at its place, wherever it is asked for', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary' }), { maxLength: 2000, size: 'max' }),
      fc.array(fc.nat()),
      (texts, asked) => {
        const writer = createLongList()
        for (const text of texts) writer.add(text)
        const list = writer.end()
        try {
          expect(list.length).toBe(texts.length)
          for (const n of asked) if (n < texts.length) expect(list.at(n)).toBe(texts[n])
          for (const [n, text] of texts.entries()) expect(list.at(n)).toBe(text)
          expect(() => list.at(texts.length)).toThrow(RangeError)
        } finally {
          writer.close()
        }
      },
    ),
    { numRuns: 30 },
  )
})

it('is read by another thread by what may be sent to it', async () => {
  const writer = createLongList()
  for (let n = 0; n < 3000; n += 1) writer.add(`text ${n} \ud800`)
  const { handle } = writer.end()
  try {
    const echo =
      'const { parentPort } = require("node:worker_threads"); parentPort.on("message", (m) => parentPort.postMessage(m))'
    const worker = new Worker(echo, { eval: true })
    const sent = new Promise<typeof handle>((resolve) => worker.once('message', resolve))
    worker.postMessage(handle)
    const list = openLongList(await sent)
    await worker.terminate()
    expect(list.at(2999)).toBe('text 2999 \ud800')
    expect(list.at(0)).toBe('text 0 \ud800')
  } finally {
    writer.close()
  }
})

it('is held where no file can be made', () => {
  vi.stubEnv('TMPDIR', join(tmpdir(), 'there-is-no-such-folder'))
  try {
    const writer = createLongList()
    for (let n = 0; n < 1000; n += 1) writer.add(`text ${n}`)
    const { handle } = writer.end()
    expect(handle.file).toBeUndefined()
    const list = openLongList(structuredClone(handle))
    for (const n of [0, 999, 31, 32, 500]) expect(list.at(n)).toBe(`text ${n}`)
    writer.close()
  } finally {
    vi.unstubAllEnvs()
  }
})

it('takes a few bytes of memory for each text', () => {
  collect()
  const before = process.memoryUsage().heapUsed
  const writer = createLongList()
  for (let n = 0; n < 100_000; n += 1) writer.add(`a path of some length that would be much to hold ${n}`)
  const list = writer.end()
  let length = 0
  for (let n = 0; n < list.length; n += 7) length += list.at(n).length
  collect()
  expect(length).toBeGreaterThan(0)
  expect((process.memoryUsage().heapUsed - before) / 100_000).toBeLessThan(10)
  writer.close()
})
