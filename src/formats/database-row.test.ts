import { describe, expect, it } from 'vitest'
import { TextBytes } from '../transcript/source.ts'
import {
  jsonOf,
  leftOut,
  letGoOfLong,
  lossOf,
  MOST_TEXT,
  textOf,
  valueToJson,
  weightOf,
} from './database-row.ts'

const textBytes = (text: string): TextBytes => new TextBytes(Buffer.from(text))

describe('a long value of a row', () => {
  it('says what a short one would, and is as it was', () => {
    const text = JSON.stringify({ said: `"two"\n😀${'words '.repeat(300_000)}`, n: [1, null] })
    for (const value of [textBytes(text), Buffer.from(text)]) {
      const before = Buffer.from(value)
      expect(JSON.stringify(jsonOf(value)) === text).toBe(true)
      expect(before.equals(value)).toBe(true)
      expect(textOf(value) === text && valueToJson(value) === text).toBe(true)
    }
    const noJson = textBytes(`\uFEFF${'words '.repeat(300_000)}`)
    expect(jsonOf(noJson)).toBeUndefined()
    expect(textOf(noJson)?.startsWith('\uFEFFwords')).toBe(true)
  })

  it('weighs two bytes a character once one is beyond Latin', () => {
    const words = 'words '.repeat(300_000)
    expect(weightOf(textBytes(words))).toBe(1_800_000)
    expect(weightOf(textBytes(`é${words}`))).toBe(1_800_001)
    expect(weightOf(textBytes(`漢${words}`))).toBe(3_600_002)
    expect(weightOf(textBytes(`😀${words}`))).toBe(3_600_004)
    expect(weightOf(textBytes('short'))).toBe(0)
  })

  it('is left where it is when it is too much, and told of by its row', () => {
    const plain = new TextBytes(Buffer.alloc(MOST_TEXT, 'x'))
    expect(leftOut(plain)).toBeUndefined()
    const value = new TextBytes(Buffer.concat([plain.subarray(0, MOST_TEXT / 2), Buffer.from('😀')]))
    expect(leftOut(value)?.$bytes).toBe(MOST_TEXT / 2 + 4)
    expect([jsonOf(value), textOf(value)]).toEqual([undefined, undefined])
    expect(valueToJson(value)).toEqual({ $bytes: MOST_TEXT / 2 + 4, $begins: 'x'.repeat(1000) })
    expect(lossOf({ key: 'bubbleId:a', value }, 'value', 'a message')).toEqual({
      kind: 'too-large',
      reason: 'a message of 33554436 bytes (bubbleId:a): kept, and too large to be read',
    })
    const row = { key: 'a', value }
    letGoOfLong(row)
    expect(row).toEqual({ key: 'a', value: null })
  })
})
