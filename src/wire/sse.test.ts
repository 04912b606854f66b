import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bestOf, parseCut } from '../../test/wire-streams.ts'
import { createSseParser, type SseEvent } from './sse.ts'

const parse = (text: string, cuts: readonly number[] = [], limit?: number): SseEvent[] =>
  parseCut(createSseParser(limit === undefined ? {} : { limit }), Buffer.from(text), cuts)

const RICH =
  '\uFEFF: open\r\n\r\nevent: one\r\ndata: {"text":"naïve 🤖 帮"}\r\nid: 7\r\nretry: 1500\r\n\r\n' +
  'data:first\ndata: second\ndata\ndata:  third\n\nevent:three\rdata:x\r\rfoo: bar\nid: a\0b\nretry: soon\ndata: y\n\n\n\ndata: tail'

describe('fields', () => {
  it('reads name, data, id, retry, comments, and keeps fields it does not know', () => {
    expect(parse(RICH)).toEqual([
      { data: '', comments: ['open'], complete: true },
      { event: 'one', data: '{"text":"naïve 🤖 帮"}', id: '7', retry: 1500, complete: true },
      { data: 'first\nsecond\n\n third', complete: true },
      { event: 'three', data: 'x', complete: true },
      {
        data: 'y',
        fields: [
          ['foo', 'bar'],
          ['id', 'a\0b'],
          ['retry', 'soon'],
        ],
        complete: true,
      },
      { data: 'tail', complete: false },
    ])
  })

  it('strips one space after the colon, not two', () => {
    expect(parse('data:  x\n\n')[0]?.data).toBe(' x')
  })

  it('dispatches nothing for blank lines alone', () => {
    expect(parse('\n\n\r\n\r\r\n\n')).toEqual([])
  })

  it('gives an event with empty data, which is not none', () => {
    expect(parse('data\n\n')).toEqual([{ data: '', complete: true }])
  })
})

describe('chunks', () => {
  it('may be cut at any byte, or pair of bytes', () => {
    const whole = parse(RICH)
    const length = Buffer.byteLength(RICH)
    for (let a = 0; a <= length; a += 1) {
      for (let b = a; b <= length; b += 1) expect(parse(RICH, [a, b])).toEqual(whole)
    }
  })

  it('may be of one byte each, and reused by the caller', () => {
    const bytes = Buffer.from(RICH)
    const parser = createSseParser()
    const chunk = new Uint8Array(1)
    const events: SseEvent[] = []
    for (const byte of bytes) {
      chunk[0] = byte
      events.push(...parser.push(chunk))
    }
    expect([...events, ...parser.end()]).toEqual(parse(RICH))
  })

  it('dispatches on the bare CR that ends an event, without waiting for the next chunk', () => {
    const parser = createSseParser()
    expect(parser.push(Buffer.from('data: x\r\r'))).toEqual([{ data: 'x', complete: true }])
    expect(parser.push(Buffer.from('\ndata: y\n\n'))).toEqual([{ data: 'y', complete: true }])
  })

  it('gives any lines the same events, however cut and whichever the line ends', () => {
    const line = fc.oneof(
      fc.constantFrom('', 'data: a', 'data:', 'event: e', ': c', 'id: 1', 'x', 'data: é🤖'),
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll(/[\r\n]/g, '')),
    )
    const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 20 })
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 8 })
    fc.assert(
      fc.property(lines, cuts, (drawn, places) => {
        // A CR before an empty line ended by LF would read as one CRLF: that is another text, not another cut.
        const ended = drawn.map(([text, end], at) => {
          const next = drawn[at + 1]
          return [text, end === '\r' && next?.[0] === '' && next[1] === '\n' ? '\n' : end] as const
        })
        const text = ended.map(([content, end]) => content + end).join('')
        const plain = ended.map(([content]) => `${content}\n`).join('')
        const length = Buffer.byteLength(text)
        const sorted = places.filter((place) => place < length).sort((a, b) => a - b)
        expect(parse(text, sorted)).toEqual(parse(plain))
      }),
    )
  })
})

describe('bounds', () => {
  it('reports an event over the limit and goes on with the next', () => {
    const text = `event: big\ndata: ${'x'.repeat(100)}\ndata: y\n\ndata: small\n\n`
    const events = parse(text, [], 64)
    expect(events).toEqual([
      { event: 'big', data: '', complete: true, oversize: 10 + 106 + 7 },
      { data: 'small', complete: true },
    ])
    for (let at = 1; at < text.length; at += 1) expect(parse(text, [at], 64)).toEqual(events)
  })

  it('counts all lines of an event against the limit', () => {
    expect(parse(`${'data: x\n'.repeat(20)}\n`, [], 64)).toEqual([
      { data: '', complete: true, oversize: 20 * 7 },
    ])
  })

  it('takes twice the time for twice the bytes, in chunks of any size', () => {
    const time = (size: number, chunkSize: number): number => {
      const bytes = Buffer.from(`data: ${'x'.repeat(size)}\n\n`)
      return bestOf(4, () => {
        const parser = createSseParser()
        for (let at = 0; at < bytes.length; at += chunkSize) parser.push(bytes.subarray(at, at + chunkSize))
      })
    }
    for (const [size, chunkSize] of [
      [200_000, 1],
      [4_000_000, 64],
    ] as const) {
      time(size, chunkSize)
      // Quadratic work would be 16 times as long.
      expect(time(size * 4, chunkSize)).toBeLessThan(time(size, chunkSize) * 10 + 5)
    }
  })
})
