import { describe, expect, it } from 'vitest'
import { createPostings } from './word-postings.ts'

const bytesOf = (words: number): Buffer => Buffer.from('a '.repeat(words))

describe('words that are held', () => {
  it('leave no room for more entries than can be told beside the places of the longest', () => {
    const postings = createPostings()
    postings.add(0, bytesOf(2 ** 19), 'every:')
    let number = 1
    for (; postings.hasRoom(bytesOf(1), 'every:'); number += 1) postings.add(number, bytesOf(1), 'every:')
    expect(number).toBe(2 ** 11)
    let last = [0, 0]
    postings.each((_bytes, _start, _end, places, _from, to) => {
      const place = places[to - 1] as number
      last = [place >>> postings.bits, place & (2 ** (postings.bits - 1) - 1)]
    })
    expect(last).toEqual([2 ** 11 - 1, 0])
    postings.add(number, bytesOf(1), 'every:')
    expect(() => postings.each(() => {})).toThrow('more entries')
  })

  it('leave room for many short ones once those of before are written', () => {
    const postings = createPostings()
    postings.add(0, bytesOf(2 ** 19), 'every:')
    postings.clear()
    for (let number = 0; number < 2 ** 13; number += 1) postings.add(number, bytesOf(1), 'every:')
    expect(postings.hasRoom(bytesOf(1), 'every:')).toBe(true)
  })
})
