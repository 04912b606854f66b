import { expect, it } from 'vitest'
import { byteLines, LONG_LINE } from './byte-lines.ts'

it('holds a long line by its start, wherever the chunks end', async () => {
  const held = `start${'x'.repeat(LONG_LINE)}`
  const file = Buffer.from(`${held}\n${'y'.repeat(LONG_LINE + 1)}\nstart\n`)
  for (const first of [1, 3, 5, 1000]) {
    const chunks = async function* (): AsyncGenerator<Buffer> {
      yield file.subarray(0, first)
      yield file.subarray(first)
    }
    const lengths: (number | undefined)[] = []
    for await (const lines of byteLines(chunks(), (start) =>
      start.subarray(0, 5).equals(Buffer.from('start')),
    ))
      for (const { bytes } of lines) lengths.push(bytes?.length)
    expect(lengths).toEqual([held.length, undefined, 5])
  }
})
