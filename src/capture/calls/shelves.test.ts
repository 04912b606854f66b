import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAnswerReader } from './answer.ts'
import type { WireMessage } from '../../wire/message.ts'
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
    let extents = 0
    const counted = {
      ...spill,
      writeNow(bytes: Uint8Array) {
        extents += 1
        return spill.writeNow(bytes)
      },
      free(extent: Parameters<typeof spill.free>[0]) {
        extents -= 1
        spill.free(extent)
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
    expect(extents).toBeGreaterThan(3)
    expect(readers[1]?.soFar()?.blocks).toMatchObject([{ type: 'text', text: texts[1] }])
    for (const [at, reader] of readers.entries()) {
      const { message } = await reader.end()
      expect(message.blocks).toMatchObject([{ type: 'text', text: texts[at] }])
    }
    expect(extents).toBe(0)
  })

  const ENDS = [
    {
      api: 'anthropic-messages',
      starts: STARTS,
      said,
      ends: [event({ type: 'message_stop' })],
    },
    {
      api: 'openai-chat',
      starts: [],
      said: (text: string) => event({ choices: [{ index: 0, delta: { content: text } }] }),
      ends: [event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })],
    },
    {
      api: 'openai-responses',
      starts: [],
      said: (text: string) =>
        event({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: text }),
      ends: [event({ type: 'response.completed', response: { status: 'completed', output: [] } })],
    },
    {
      api: 'gemini',
      starts: [],
      said: (text: string) => event({ candidates: [{ index: 0, content: { parts: [{ text }] } }] }),
      ends: [event({ candidates: [{ index: 0, finishReason: 'STOP' }] })],
    },
  ] as const

  it.each(ENDS)('ends where it could not be read again, and says so: $api', async (one) => {
    const read = async (isThere: boolean): Promise<WireMessage> => {
      const spill = createSpill(folder)
      const shelves = createShelves({ ...spill, ...(!isThere && { readNow: () => false }) }, -1)
      const reader = createAnswerReader(one.api, HEAD, shelves.begin())
      for (const start of one.starts) reader.push(start)
      for (let n = 0; n < 9000; n += 1) reader.push(one.said(`${n} `))
      for (const end of one.ends) reader.push(end)
      return (await reader.end()).message
    }
    expect(await read(true)).toMatchObject({ complete: true })
    const message = await read(false)
    expect(message.complete).toBe(false)
    expect(message.dropped).toBeGreaterThan(10_000)
  })

  it('takes no room once it is over, and reads nothing of what others put there', () => {
    const spill = createSpill(folder)
    const shelf = createShelves(spill, -1).begin()
    const shelved = shelf.put(Buffer.alloc(10_000, 'a'))
    expect(shelved?.read(Buffer.alloc(10_000))).toBe(true)
    shelf.clear()
    spill.writeNow(Buffer.alloc(10_000, 'b'))
    expect(shelved?.read(Buffer.alloc(10_000))).toBe(false)
    expect(shelf.put(Buffer.alloc(10_000))).toBeUndefined()
  })
})
