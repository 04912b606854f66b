/** Texts in order, however many. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { createSortedTexts } from './sorted-texts.ts'

const sorted = (texts: readonly string[], mostHeld: number): readonly string[] => {
  const all = createSortedTexts(mostHeld)
  for (const text of texts) all.add(text)
  return [...all.inOrder()]
}

it('are those that were added, by their code units, held or not', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary', maxLength: 30 })),
      fc.integer({ min: 1, max: 20 }),
      (texts, most) => {
        expect(sorted(texts, most)).toEqual(texts.toSorted((a, b) => (a < b ? -1 : 1)))
      },
    ),
  )
})

it('may be halves of characters, and longer than what is read at a time', () => {
  const texts = ['\ud800x', 'x'.repeat(100_000), '', '\udc00', 'y'.repeat(50_000)]
  expect(sorted(texts, 2)).toEqual(texts.toSorted((a, b) => (a < b ? -1 : 1)))
})

it('are held where no file can be made', () => {
  vi.stubEnv('TMPDIR', join(tmpdir(), 'there-is-no-such-folder'))
  try {
    const texts = Array.from({ length: 100 }, (_, n) => `${(n * 37) % 100}`)
    expect(sorted(texts, 3)).toEqual(texts.toSorted())
  } finally {
    vi.unstubAllEnvs()
  }
})

it('leave no file open, read to their end or left before', () => {
  const open = (): number => fs.readdirSync('/proc/self/fd').length
  if (process.platform !== 'linux') return
  const before = open()
  const texts = createSortedTexts(2)
  for (let n = 0; n < 100; n += 1) texts.add(`${n}`)
  expect(open()).toBe(before + 1)
  for (const text of texts.inOrder()) if (text === '50') break
  expect(open()).toBe(before)
})
