import { describe, expect, it } from 'vitest'
import type { TapeJson } from '../../wire/tape.ts'
import { createTapeDeck } from './tape.ts'

const HEAD = {
  status: 200,
  headers: { 'content-type': 'text/event-stream', 'set-cookie': ['who=me'], 'x-two': ['a', 'b'] },
}

describe('a tape', () => {
  it('has every chunk as it came, and the head without who was served', () => {
    const tape = createTapeDeck().begin(HEAD, performance.now())
    const chunks = [Buffer.from('data: é').subarray(0, 7), Buffer.from([0xa9]), Buffer.from('\n\n')]
    for (const chunk of chunks) {
      tape.push(chunk)
      chunk.fill(0)
    }
    const { line, words } = tape.end('c1') as { line: string; words: string }
    const { call, status, headers, chunks: kept } = JSON.parse(line) as TapeJson
    expect([call, status]).toEqual(['c1', 200])
    expect(headers).toEqual([
      ['content-type', 'text/event-stream'],
      ['x-two', 'a'],
      ['x-two', 'b'],
    ])
    expect(Buffer.concat(kept.map(([, data]) => Buffer.from(data, 'base64'))).toString()).toBe('data: é\n\n')
    expect(kept).toHaveLength(3)
    expect(words).toContain('data: é')
  })

  it('is none when all open ones are too much together, and others have the room again', () => {
    const deck = createTapeDeck(1000)
    const [first, second] = [deck.begin(HEAD, 0), deck.begin(HEAD, 0)]
    first.push(Buffer.alloc(500))
    second.push(Buffer.alloc(500))
    second.push(Buffer.alloc(1))
    expect(second.end('c')).toBeUndefined()
    expect(first.end('c')).toBeDefined()
    const third = deck.begin(HEAD, 0)
    third.push(Buffer.alloc(900))
    expect(third.end('c')).toBeDefined()
  })
})
