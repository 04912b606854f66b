import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { frame } from '../../test/event-frame.ts'
import { createEventStreamParser, toEventFrame, type EventFrame } from './event-stream.ts'

const seen = (frames: readonly EventFrame[]) =>
  frames.map(({ headers, payload }) => [Object.fromEntries(headers), payload.toString()])

describe('Amazon’s event stream', () => {
  it('gives the same frames however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('messageStart', 'é'), fc.string()), { maxLength: 5 }),
        fc.array(fc.nat({ max: 20 })),
        (sent, cuts) => {
          const bytes = Buffer.concat(
            sent.map(([type, text]) => frame({ ':event-type': type }, Buffer.from(text))),
          )
          const parser = createEventStreamParser()
          const got: EventFrame[] = []
          let at = 0
          for (const cut of cuts) got.push(...parser.push(bytes.subarray(at, (at += cut))))
          got.push(...parser.push(bytes.subarray(at)))
          expect(seen(got)).toEqual(sent.map(([type, text]) => [{ ':event-type': type }, text]))
          expect(parser.end()).toBeUndefined()
        },
      ),
    )
  })

  it('gives nothing of a frame in which one byte is another, and nothing after it', () => {
    const good = frame({ a: 'b' }, Buffer.from('payload'))
    for (let at = 0; at < good.length; at += 1) {
      const bad = Buffer.from(good)
      bad[at] = (bad[at] as number) ^ 0x10
      const parser = createEventStreamParser()
      expect(seen(parser.push(Buffer.concat([good, bad, good])))).toEqual([[{ a: 'b' }, 'payload']])
      expect(parser.end()).toMatch(/checksum|bytes|ends inside/)
    }
  })

  it('says where it was cut off, at every byte', () => {
    const good = frame({ a: 'b' }, Buffer.from('payload'))
    for (let at = 1; at < good.length; at += 1) {
      const parser = createEventStreamParser()
      expect(parser.push(good.subarray(0, at))).toEqual([])
      expect(parser.end()).toContain('ends inside')
    }
  })

  it('is written as others write it, with both checksums', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.string()),
        fc.string(),
        (headers, text) => {
          expect(toEventFrame(headers, Buffer.from(text)).equals(frame(headers, Buffer.from(text)))).toBe(
            true,
          )
        },
      ),
    )
  })
})
