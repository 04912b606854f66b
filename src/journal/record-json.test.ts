import { describe, expect, it } from 'vitest'
import { sampleEntry } from '../../test/journal-samples.ts'
import type { Block } from '../transcript/block.ts'
import type { Json } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import { toRecordJson } from './record-json.ts'

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
})
