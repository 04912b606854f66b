import { describe, expect, it } from 'vitest'
import { sampleEntry } from '../../test/journal-samples.ts'
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Json } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import { toRecordJson } from './record-json.ts'
import type { JournalRecord } from './record.ts'

/** What a caller without types can hand us. */
function foreign(value: unknown): Json {
  return value as Json
}

function blocksOf(blocks: readonly Block[]): Block[] {
  const json = toRecordJson({ t: 'entry', entry: { ...sampleEntry(0), blocks } })
  const { entry } = JSON.parse(json) as { entry: { id: string; blocks: Block[] } }
  expect(entry.id).toBe('primary/0')
  return entry.blocks
}

function nested(depth: number): Json {
  let value: Json = 1
  for (let n = 0; n < depth; n += 1) value = [value]
  return value
}

describe('a record as JSON', () => {
  const text: Block = { type: 'text', text: 'kept' }
  const cycle: Record<string, unknown> = {}
  cycle['self'] = { cycle }
  const longCycle: Record<string, unknown> = {}
  let at = longCycle
  for (let n = 0; n < 50_000; n += 1) at = at['next'] = {}
  at['next'] = longCycle

  it.each([
    ['a cycle', cycle],
    ['a cycle longer than the stack', longCycle],
    ['a BigInt', { n: 1n }],
    [
      'a toJSON that throws',
      {
        toJSON: () => {
          throw new Error('no')
        },
      },
    ],
    [
      'a getter that throws',
      {
        get x(): number {
          throw new Error('no')
        },
      },
    ],
  ])('keeps the entry and its other blocks around %s', (_, input) => {
    const [first, second, third] = blocksOf([
      text,
      { type: 'tool-call', name: 'x', input: foreign(input) },
      text,
    ])
    expect(first).toEqual(text)
    expect(second).toEqual({ type: 'unknown', raw: null, reason: 'not serialisable as JSON' })
    expect(third).toEqual(text)
  })

  it('keeps what is nested deeper than common readers go as text, whole', () => {
    const block: Block = { type: 'tool-call', name: 'deep', input: nested(100_000) }
    const [kept] = blocksOf([block])
    expect(kept).toMatchObject({ type: 'unknown', reason: expect.stringContaining('240 levels') })
    expect(kept?.type === 'unknown' && kept.raw).toContain(`${'['.repeat(100_000)}1${']'.repeat(100_000)}`)
  })

  it('leaves what is nested 200 levels deep as it is', () => {
    const block: Block = { type: 'tool-call', name: 'deep', input: nested(200) }
    expect(blocksOf([block])).toEqual([block])
  })

  it('does not take forever over shared structure that would be endless as JSON', () => {
    let value: unknown = 1
    for (let n = 0; n < 100; n += 1) value = [value, value]
    expect(blocksOf([{ type: 'tool-call', name: 'x', input: foreign(value) }])[0]).toMatchObject({
      raw: null,
    })
  })

  it('names the fields of the envelope it could not keep', () => {
    const entry = { ...sampleEntry(0), metadata: { n: foreign(1n) } }
    const kept = JSON.parse(toRecordJson({ t: 'entry', entry })) as { entry: typeof entry }
    expect(kept.entry.metadata).toBeUndefined()
    expect(kept.entry.blocks.at(-1)).toMatchObject({ reason: 'metadata: not serialisable as JSON' })
  })

  it('keeps the facts of a session that can be kept', () => {
    const session = { title: 'x', input: { n: foreign(1n) } }
    expect(JSON.parse(toRecordJson({ t: 'update', session }))).toEqual({
      t: 'update',
      session: { title: 'x' },
      withheld: ['input'],
    })
  })

  it('keeps the envelope of an entry over the limit of a line', () => {
    const json = toRecordJson({ t: 'entry', entry: sampleEntry(0, 'x'.repeat(RECORD_LIMIT)) })
    expect(json.length).toBeLessThan(1000)
    expect(json).toContain('over the limit of a line')
    expect(json).toContain('primary/0')
  })

  describe('over the limit of a line', () => {
    const limit = 300_000
    const huge = 'x'.repeat(limit)
    const toJson = (record: JournalRecord): string => {
      const json = toRecordJson(record, undefined, limit)
      expect(Buffer.byteLength(json)).toBeLessThanOrEqual(limit)
      return json
    }
    const read = (entry: Entry): Entry =>
      (JSON.parse(toJson({ t: 'entry', entry })) as { entry: Entry }).entry
    const gone: Block = { type: 'unknown', raw: null, reason: 'over the limit of a line' }

    it('loses metadata before blocks, and a small one never', () => {
      expect(read({ ...sampleEntry(0), metadata: { huge }, blocks: [text] }).blocks).toEqual([
        text,
        { ...gone, reason: 'metadata: over the limit of a line' },
      ])
      const kept = read({
        ...sampleEntry(0),
        metadata: { a: 1 },
        blocks: [{ type: 'text', text: huge }, text],
      })
      expect(kept).toMatchObject({ metadata: { a: 1 }, blocks: [gone, text] })
    })

    it("loses a provider's own usage and keeps the counts", () => {
      const usage = { input: 5, quality: 'reported' as const, raw: { huge } }
      expect(read({ ...sampleEntry(0), usage, blocks: [text] })).toMatchObject({
        usage: { input: 5, quality: 'reported' },
        blocks: [text, { reason: 'usage.raw: over the limit of a line' }],
      })
    })

    it('loses the largest blocks, and no more than it must', () => {
      const block = (length: number): Block => ({ type: 'text', text: 'x'.repeat(length) })
      const blocks = [block(90_000), block(120_000), block(80_000), text, block(40_000)]
      expect(read({ ...sampleEntry(0), blocks }).blocks).toEqual(blocks.with(1, gone))
    })

    it('keeps who and when, whatever else is too large', () => {
      const many = Array.from({ length: 20_000 }, () => text)
      const kept = read({
        ...sampleEntry(0),
        id: huge,
        stopReason: huge,
        call: { requestId: huge },
        blocks: many,
      })
      expect(kept).toMatchObject({ source: 'primary', sequence: 0, id: `${'x'.repeat(1000)}…` })
      expect(kept.blocks).toHaveLength(1)
    })

    it.each([
      ['of text', huge],
      ['of marks', '{"v":1,"seq":'.repeat(30_000)],
    ])('keeps the first line of a session whose facts are megabytes %s', (_, long) => {
      const session = { id: 's', status: 'running' as const, title: long, input: { long }, cwd: '/kept' }
      const record = { t: 'session' as const, session, writer: 'w', boot: 'b', by: 'test', at: '2026' }
      const kept = JSON.parse(toJson(record)) as typeof record & { withheld: string[] }
      expect(kept).toMatchObject({
        t: 'session',
        writer: 'w',
        session: { id: 's', status: 'running', cwd: '/kept' },
      })
      expect(kept.withheld.length).toBeGreaterThan(0)
    })

    it('fits with every mark in it made none', () => {
      const marks = Array.from({ length: 12_000 }, () => ({ v: 1, seq: 0 }))
      const block: Block = { type: 'unknown', raw: { marks } }
      for (let n = 1; n < 4; n += 1) read({ ...sampleEntry(0), blocks: [block, block].slice(0, n) })
      expect(toJson({ t: 'entry', entry: { ...sampleEntry(0), blocks: [block] } })).toContain(
        '{"v":1, "seq":',
      )
    })

    it('names the facts that went, and cuts those that are text', () => {
      const record = {
        t: 'update' as const,
        session: { title: huge, error: huge, tags: { huge }, agent: 'a' },
      }
      expect(JSON.parse(toJson(record))).toEqual({
        t: 'update',
        session: { title: `${'x'.repeat(1000)}…`, error: `${'x'.repeat(1000)}…`, agent: 'a' },
        withheld: ['tags', 'title', 'error'],
      })
    })
  })
})
