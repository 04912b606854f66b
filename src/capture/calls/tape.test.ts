import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TapeJson } from '../../wire/tape.ts'
import { createSpill } from '../spill.ts'
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
    const deck = createTapeDeck({ budget: 1000 })
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

  it('is none of more chunks than anybody sends, however short they are', () => {
    const tape = createTapeDeck({ budget: 100_000_000 }).begin(HEAD, 0)
    const nothing = Buffer.alloc(0)
    for (let n = 0; n < 1_000_001; n += 1) tape.push(nothing, n)
    expect(tape.end('c')).toBeUndefined()
  })

  it('is whole also where most of it waited outside of memory', () => {
    const folder = fs.mkdtempSync(join(os.tmpdir(), 'tape-'))
    const deck = createTapeDeck({ spill: createSpill(folder), budget: 40_000 })
    const tapes = Array.from({ length: 4 }, () => deck.begin(HEAD, 0))
    for (let n = 0; n < 4000; n += 1) tapes[n % 4]?.push(Buffer.from(`data: ${n}\n\n`), n / 3)
    tapes[0]?.push(Buffer.alloc(100_000, 'x'), 2000)
    const lines = tapes.map((tape) => JSON.parse(tape.end('c', 'client')?.line ?? 'null') as TapeJson)
    expect(lines.map(({ chunks }) => chunks.length)).toEqual([1001, 1000, 1000, 1000])
    for (const [at, { chunks, broken }] of lines.entries()) {
      expect(broken).toBe('client')
      for (const [n, [ms, bytes]] of chunks.slice(0, 1000).entries()) {
        const serial = n * 4 + at
        expect(ms).toBe(Math.round((serial / 3) * 10) / 10)
        expect(Buffer.from(bytes, 'base64').toString()).toBe(`data: ${serial}\n\n`)
      }
    }
    fs.rmSync(folder, { recursive: true })
  })
})
