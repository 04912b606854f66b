import fc from 'fast-check'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { gunzipHead, inflateHead } from './packed-head.ts'

describe('the beginning of what is packed', () => {
  it('is that of what was packed, however much of it there is', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 20_000 }),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(30_000),
        fc.double({ min: 0, noNaN: true }),
        (seed, times, bytes, share) => {
          const whole = Buffer.concat(Array.from({ length: times }, () => seed))
          const packed = gzipSync(whole)
          expect(gunzipHead(packed, bytes)).toEqual(whole.subarray(0, bytes))
          expect(inflateHead(deflateRawSync(whole), bytes)).toEqual(whole.subarray(0, bytes))
          // What is said of how it was packed need not be true.
          expect(inflateHead(deflateRawSync(whole), bytes, share)).toEqual(whole.subarray(0, bytes))
          const cut = gunzipHead(packed.subarray(0, packed.length >> 1), bytes)
          if (cut !== undefined) expect(cut).toEqual(whole.subarray(0, cut.length))
        },
      ),
      { numRuns: 40 },
    )
  })

  it('is little even of a bomb', () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    expect(gunzipHead(bomb, 65_536)).toEqual(Buffer.alloc(65_536))
  })

  it('is nothing where the bytes make no sense', () => {
    expect(
      gunzipHead(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff]), 10),
    ).toBeUndefined()
  })
})
