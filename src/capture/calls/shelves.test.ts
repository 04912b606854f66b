import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAnswerReader } from './answer.ts'
import { createSpill } from '../spill.ts'
import { createShelves } from './shelves.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'shelves-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const HEAD = { status: 200, headers: { 'content-type': 'text/event-stream' } }
const event = (data: object): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)
const said = (text: string): Buffer =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
const STARTS = [
  event({ type: 'message_start', message: { id: 'm', role: 'assistant', content: [] } }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
]

describe('an answer whose text lies outside of memory', () => {
  it('is read as if it did not, also before its end, and gives its room back', async () => {
    const spill = createSpill(folder)
    let places = 0
    const counted = {
      ...spill,
      writeNow(bytes: Uint8Array) {
        places += 1
        return spill.writeNow(bytes)
      },
      free(place: Parameters<typeof spill.free>[0]) {
        places -= 1
        spill.free(place)
      },
    }
    const shelves = createShelves(counted, 20_000)
    const readers = Array.from({ length: 3 }, () =>
      createAnswerReader('anthropic-messages', HEAD, shelves.begin()),
    )
    const texts = readers.map(() => '')
    for (const reader of readers) {
      reader.push(event({ type: 'message_start', message: { id: 'm', role: 'assistant', content: [] } }))
      reader.push(event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }))
    }
    for (let n = 0; n < 9000; n += 1) {
      const word = `${n} ${n % 1000 === 999 ? 'wörd 言葉 ' : 'word '}`
      readers[n % 3]?.push(said(word))
      texts[n % 3] += word
    }
    expect(places).toBeGreaterThan(3)
    expect(readers[1]?.soFar()?.blocks).toMatchObject([{ type: 'text', text: texts[1] }])
    for (const [at, reader] of readers.entries()) {
      const { message } = await reader.end()
      expect(message.blocks).toMatchObject([{ type: 'text', text: texts[at] }])
    }
    expect(places).toBe(0)
  })

  it('ends where it could not be read again, and says so', async () => {
    const shelves = createShelves({ ...createSpill(folder), readNow: () => false }, -1)
    const reader = createAnswerReader('anthropic-messages', HEAD, shelves.begin())
    for (const start of STARTS) reader.push(start)
    for (let n = 0; n < 9000; n += 1) reader.push(said(`${n} `))
    reader.push(event({ type: 'message_stop' }))
    const { message } = await reader.end()
    expect(message.complete).toBe(false)
    expect(message.dropped).toBeGreaterThan(10_000)
  })
})
