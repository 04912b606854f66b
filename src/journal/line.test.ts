import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json } from '../../test/arbitrary.ts'
import { sampleEntry, sampleRecords, toLines } from '../../test/journal-samples.ts'
import { encodeLine, hashMatches, MARK, NO_HASH, parseLine } from './line.ts'
import { toRecordJson } from './record-json.ts'

const place = { seq: 7, mt: 123, p: NO_HASH }

describe('a journal line', () => {
  it('begins with its mark and ends with the hash before, its own hash and its checksum', () => {
    for (const line of toLines(sampleRecords(20))) {
      expect(line.toString()).toMatch(
        /^\{"v":1,"seq":\d+,"mt":\d+,"t":.*,"p":"[\w-]{43}","h":"[\w-]{43}","c":"[0-9a-f]{8}"\}\n$/,
      )
    }
  })

  it('hashes exactly the bytes before its hash', () => {
    const { text, h } = encodeLine(toRecordJson({ t: 'entry', entry: sampleEntry(2) }), place)
    const before = text.slice(0, text.lastIndexOf(',"h":'))
    expect(createHash('sha256').update(before).digest('base64url')).toBe(h)
    expect(hashMatches(Buffer.from(text.trimEnd()), h)).toBe(true)
    expect(hashMatches(Buffer.from(text.trimEnd()), NO_HASH)).toBe(false)
  })

  it('holds its mark once, whatever the content', () => {
    fc.assert(
      fc.property(
        fc.oneof(json, fc.constant({ v: 1, seq: 2 }), fc.constant([{ v: 1, seq: { v: 1, seq: 1 } }])),
        (raw) => {
          const entry = { ...sampleEntry(0), blocks: [{ type: 'unknown' as const, raw }] }
          const { text } = encodeLine(toRecordJson({ t: 'entry', entry }), place)
          expect(text.lastIndexOf(MARK)).toBe(0)
          expect(parseLine(Buffer.from(text.trimEnd()))?.value['entry']).toEqual(entry)
        },
      ),
    )
  })

  it('is refused when the case of one hex digit of its checksum is flipped', () => {
    const line = toLines(sampleRecords(40)).find((bytes) => /[a-f]"\}\n$/.test(bytes.toString()))
    if (line === undefined) throw new Error('no checksum ends in a letter')
    const whole = line.subarray(0, -1)
    expect(parseLine(whole)).toBeDefined()
    const flipped = Buffer.from(whole)
    flipped[flipped.length - 3] = (flipped[flipped.length - 3] as number) ^ 0x20
    expect(parseLine(flipped)).toBeUndefined()
  })

  it('takes text of any width, from one byte to a megabyte', () => {
    for (const text of [
      'é',
      '帮'.repeat(100_000),
      '😀'.repeat(70_000),
      '\ud800',
      'x'.repeat(1_000_000),
      'y',
    ]) {
      const { text: line } = encodeLine(toRecordJson({ t: 'entry', entry: sampleEntry(1, text) }), place)
      const entry = parseLine(Buffer.from(line.trimEnd()))?.value['entry']
      expect(entry).toEqual(sampleEntry(1, text))
    }
  })
})
