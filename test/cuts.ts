/** A file that ends after any of its bytes is read all the same: nothing throws, and what is whole before the cut is there. */
import { expect } from 'vitest'
import type { Format } from '../src/formats/format.ts'
import { memoryFileSource, readAll } from './memory-files.ts'

/** Whatever is there is told of, as an entry or as damage, and sequences stay dense. */
export async function expectToSurviveCuts(format: Format, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  for (let length = 0; length <= bytes.length; length += 1) {
    const source = memoryFileSource('cut', bytes.subarray(0, length))
    await format.detect(source)
    const transcripts = await readAll(format, source)
    const entries = transcripts.flatMap((one) => one.entries)
    for (const { entries: own } of transcripts)
      for (const [index, { sequence }] of own.filter(({ source: from }) => from === 'primary').entries())
        expect(sequence).toBe(index)
    const told = entries.length + transcripts.flatMap((one) => one.damage).length
    if (length > 0 && bytes.subarray(0, length).toString('utf8').trim() !== '')
      expect(told).toBeGreaterThan(0)
  }
  const whole = await readAll(format, memoryFileSource('cut', bytes))
  expect(whole.flatMap((one) => one.entries).length).toBeGreaterThan(0)
}
