import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { createHashFiles, WORDS } from './hash-files.ts'

const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-sorted-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

/** Few enough first words that many share one. */
const name = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.nat(0xffff_ffff))

it('finds of each name what was put away last, in any number of files', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uniqueArray(name, { selector: String, maxLength: 700 }), { maxLength: 9 }),
      (batches) => {
        const files = createHashFiles(folder)
        const known = new Map<
          string,
          { readonly high: number; readonly low: number; readonly batch: number }
        >()
        for (const [batch, names] of batches.entries()) {
          const all = names.toSorted(([a, b], [c, d]) => a - c || b - d)
          const words = Uint32Array.from(all.flatMap(([high, low]) => [high, low, batch, high, low, 7]))
          files.add(
            words,
            all.map((_, n) => n * WORDS),
          )
          for (const [high, low] of all) known.set(`${high} ${low}`, { high, low, batch })
        }
        const into = new Uint32Array(WORDS - 2)
        for (const { high, low, batch } of known.values()) {
          expect(files.find(high, low, into)).toBe(true)
          expect([...into]).toEqual([batch, high, low, 7])
          if (!known.has(`${high} ${low + 1}`)) expect(files.find(high, low + 1, into)).toBe(false)
        }
        expect([files.find(0, 5, into), files.find(41, 5, into)]).toEqual([false, false])
        files.close()
      },
    ),
    { numRuns: 30 },
  )
})

it('finds what lies beyond what is read at a time, and leaves no file behind', () => {
  const files = createHashFiles(folder)
  const count = 40_000
  for (const round of [0, 1]) {
    const words = new Uint32Array(count * WORDS)
    const order = Array.from({ length: count }, (_, n) => n * WORDS)
    for (let n = 0; n < count; n += 1) words.set([2 * n + round, n, round, n, n, n], n * WORDS)
    files.add(words, order)
  }
  const into = new Uint32Array(WORDS - 2)
  const wrong: number[] = []
  for (let n = 0; n < 2 * count; n += 1)
    if (!files.find(n, n >> 1, into) || into[0] !== n % 2 || into[1] !== n >> 1) wrong.push(n)
  expect(wrong).toEqual([])
  files.close()
  expect(fs.readdirSync(folder)).toEqual([])
})

it('says so where no file can be made', () => {
  const files = createHashFiles(join(folder, 'nowhere'))
  expect(() => files.add(new Uint32Array(WORDS), [0])).toThrow(/no file can be made/)
})
