import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isHansardError, type HansardError } from '../errors.ts'
import type { Format, ReadItem } from '../formats/format.ts'
import type { Entry } from '../transcript/entry.ts'
import { detect, identify } from './detect.ts'
import { openSource } from './open.ts'
import { readBySession, readItems, readTranscripts } from './read.ts'
import { survey } from './survey.ts'

const folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-read-'))
const put = (name: string, content: string | Buffer): string => {
  fs.writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const format = (id: string, confidence: number | undefined, items: readonly ReadItem[] = []): Format => ({
  id,
  title: id,
  detect: async () => (confidence === undefined ? undefined : { confidence, reason: `because ${id}` }),
  async *read() {
    yield items
  },
})

const entry = (id: string, usage = 1): ReadItem => ({
  type: 'entry',
  entry: {
    id,
    source: 'primary',
    sequence: 0,
    kind: 'message',
    blocks: [{ type: 'text', text: id }],
    usage: { output: usage, quality: 'reported' },
  } satisfies Entry,
})
const opened = (id: string, title?: string): ReadItem => ({
  type: 'session',
  session: { id, status: 'running', ...(title && { title }) },
})
const torn: Extract<ReadItem, { type: 'damage' }> = {
  type: 'damage',
  damage: { kind: 'torn', file: 'f', byteOffset: 0, byteLength: 1, reason: 'x' },
}

async function failure(work: Promise<unknown>): Promise<HansardError> {
  const error = await work.catch((error: unknown) => error)
  if (!isHansardError(error)) throw new Error(`not ours: ${String(error)}`)
  return error
}

describe('detection', () => {
  it('takes the surest format', async () => {
    const source = await openSource(put('a', '{}'))
    const found = await detect(source, {
      formats: [format('no', undefined), format('low', 0.3), format('high', 0.9)],
    })
    expect(found).toMatchObject({
      format: { id: 'high' },
      confidence: 0.9,
      reason: 'because high',
    })
    expect(await detect(source, { formats: [format('no', undefined)] })).toBeUndefined()
  })

  it('believes the user who names a format, and knows only those there are', async () => {
    const source = await openSource(put('a', '{}'))
    const formats = [format('one', undefined), format('two', 0.9)]
    expect((await identify(source, { formats, format: 'one' })).format.id).toBe('one')
    const error = await failure(identify(source, { formats, format: 'three' }))
    expect(error).toMatchObject({ code: 'unknown-format', hint: expect.stringContaining('one, two') })
  })

  it.each([
    ['', 'empty'],
    ['\0\0\0', 'nothing but NUL bytes'],
    [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]), 'binary'],
    [Buffer.from([0x68, 0xff, 0xfe, 0x68, 0x68, 0x68, 0x68]), 'binary'],
    ['{"a":1,"b":2}', 'a JSON object with the keys a, b'],
    ['[1,2]', 'a JSON list of 2'],
    ['{"a":1}\n{"a":2}\n', 'JSON lines with the keys a'],
    ['{"__proto__":{"x":1}}', 'a JSON object with the keys __proto__'],
    ['{"a":', 'the start of a JSON document'],
    ['hello there', 'plain text'],
  ])('says what %j looks like when nothing knows it', async (content, looks) => {
    const source = await openSource(put('unknown', content))
    const error = await failure(identify(source, { formats: [format('one', undefined)] }))
    expect(error.code).toBe('unknown-format')
    expect(error.message).toContain(looks)
    expect(error.hint).toContain('--format')
  })

  it('says what a folder without transcripts looks like', async () => {
    const empty = fs.mkdtempSync(join(os.tmpdir(), 'hansard-read-'))
    const formats = [format('one', undefined)]
    expect((await failure(identify(await openSource(empty), { formats }))).message).toContain('without files')
    for (const name of ['a', 'b', 'c', 'd']) fs.writeFileSync(join(empty, name), name)
    expect((await failure(identify(await openSource(empty), { formats }))).message).toContain(
      'a folder of 4 files (a, b, c, …)',
    )
  })
})

describe('reading', () => {
  const items = [torn, opened('s1'), entry('a', 2), opened('s2'), entry('b'), torn, opened('s1', 'named')]
  items.push(entry('c', 3))

  it('gives each entry and damage to the session opened last, and the last facts win', async () => {
    const { transcripts, damage } = await readTranscripts(
      format('x', 1, items).read(await openSource(folder)),
    )
    expect(damage).toHaveLength(1)
    expect(transcripts).toMatchObject([
      { session: { id: 's1', title: 'named' }, entries: [{ id: 'a' }, { id: 'c' }], damage: [] },
      { session: { id: 's2' }, entries: [{ id: 'b' }], damage: [{ kind: 'torn' }] },
    ])
  })

  it('surveys the same without keeping an entry, and counts what the source does not', async () => {
    const { sessions, damage } = await survey(format('x', 1, items).read(await openSource(folder)))
    expect(sessions).toMatchObject([
      { session: { id: 's1', title: 'named', totals: { entries: 2, usage: { output: 5 } } }, entries: 2 },
      { session: { id: 's2' }, entries: 1 },
    ])
    expect(damage).toEqual([torn.damage])
  })

  const named = (items: readonly ReadItem[]): string[] =>
    items.map((item) => (item.type === 'entry' ? item.entry.id : item.type))

  const bySession = async (items: readonly ReadItem[], ids: readonly string[]): Promise<unknown> => {
    let passes = 0
    const read = (): AsyncIterable<readonly ReadItem[]> => {
      passes += 1
      return (async function* () {
        yield items.slice(0, 3)
        yield items.slice(3)
      })()
    }
    const { isInterleaved } = await survey(read())
    passes = 0
    const given: Record<string, string[]> = {}
    const order: string[] = []
    for await (const { id, items } of readBySession(read, ids, isInterleaved)) {
      if (order.at(-1) !== id) order.push(id)
      ;(given[id] ??= []).push(...named(items))
    }
    return { order, given, passes }
  }

  it('gives one session after the other, however the source has them', async () => {
    const s1 = ['session', 'a', 'session', 'c']
    const s2 = ['session', 'b', 'damage']
    expect(await bySession(items, ['s1', 's2'])).toEqual({
      order: ['s1', 's2'],
      given: { s1, s2 },
      passes: 2,
    })
    expect(await bySession(items, ['s2'])).toEqual({ order: ['s2'], given: { s2 }, passes: 1 })
  })

  it('reads once where the source has one session after the other', async () => {
    const apart = [opened('s1'), entry('a'), opened('s1', 'named'), entry('c'), opened('s2'), entry('b')]
    expect(await bySession(apart, ['s1', 's2'])).toEqual({
      order: ['s1', 's2'],
      given: { s1: ['session', 'a', 'session', 'c'], s2: ['session', 'b'] },
      passes: 1,
    })
  })

  it('adds what the source itself could not give', async () => {
    const path = put('cut.gz', Buffer.from([0x1f, 0x8b, 0x08]))
    const lines: Format = {
      ...format('x', 1),
      async *read(source) {
        for (const file of await source.list()) for await (const _ of file.chunks()) yield []
        yield [opened('s')]
      },
    }
    const { transcripts } = await readTranscripts(readItems(await openSource(path), lines))
    expect(transcripts).toMatchObject([{ damage: [{ kind: 'torn', file: 'cut.gz' }] }])
  })
})
