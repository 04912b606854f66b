import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hashShort, sha256 } from './sha256.ts'

const theirs = (text: string): string => createHash('sha256').update(text).digest('hex')

it('is what node:crypto says, of any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(hashShort(text).toString('hex')).toBe(theirs(text))
    }),
  )
})

it('is so at every length around the ends of blocks', () => {
  for (let length = 0; length < 200; length += 1)
    expect(hashShort('x'.repeat(length)).toString('hex')).toBe(theirs('x'.repeat(length)))
})

it('is the same however many were asked for before, and however long they are', () => {
  for (let n = 0; n < 120; n += 1) {
    const text = `short ${n % 60}`
    const digest = sha256(text)
    expect(digest.toString('hex')).toBe(theirs(text))
    digest.fill(0)
  }
  expect(sha256('long'.repeat(5000)).toString('hex')).toBe(theirs('long'.repeat(5000)))
})
