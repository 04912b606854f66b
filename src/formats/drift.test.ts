import { describe, expect, it } from 'vitest'
import { createDriftWatch, vocabulary } from './drift.ts'
import type { Drift } from './format.ts'

const known = vocabulary({
  records: ['user: message', 'system: subtype level'],
  common: 'type uuid',
  blocks: 'text image',
})

function watch() {
  const told: Drift[] = []
  const seen = createDriftWatch(known, { drift: (drift) => void told.push(drift) })
  return { told, seen }
}

describe('a drift watch', () => {
  it('says nothing of what the vocabulary has', () => {
    const { told, seen } = watch()
    seen?.record('user', { type: 'user', uuid: '1', message: {} })
    seen?.block('image')
    expect(told).toEqual([])
  })

  it('names a new record type, a new key and a new block, with the version that wrote them', () => {
    const { told, seen } = watch()
    seen?.record('dream', { type: 'dream', whatever: 1 }, '9.9.9')
    seen?.record('user', { type: 'user', mood: 'fine' })
    seen?.block('hologram', '9.9.9')
    expect(told).toEqual([
      { kind: 'record', name: 'dream', version: '9.9.9' },
      { kind: 'key', name: 'user.mood' },
      { kind: 'block', name: 'hologram', version: '9.9.9' },
    ])
  })

  it('names a new key wherever it stands, and however records before it were', () => {
    const { told, seen } = watch()
    const records = [
      { type: 1, uuid: 1, message: 1 },
      { mood: 1, uuid: 1, message: 1 },
      { uuid: 1, type: 1, message: 1 },
      { uuid: 1, mood: 1, message: 1 },
      { uuid: 1, mood: 1, message: 1 },
      { type: 1, uuid: 1, message: 1, mood: 1 },
    ]
    for (const record of records) seen?.record('user', record)
    expect(told.map(({ name }) => name)).toEqual(Array.from({ length: 4 }, () => 'user.mood'))
    seen?.record('system', { type: 1, uuid: 1, message: 1 })
    expect(told.at(-1)?.name).toBe('system.message')
  })

  it('names a new key of a block whose keys are known, and none of one whose are not', () => {
    const told: string[] = []
    const words = vocabulary({ records: [], blocks: ['text: text', 'ask:command'] })
    const seen = createDriftWatch(words, { drift: ({ kind, name }) => void told.push(`${kind} ${name}`) })
    seen?.block('text', undefined, { type: 'text', text: 'a', smell: 1 })
    seen?.block('ask:command')
    seen?.block('ask')
    createDriftWatch(known, { drift: ({ name }) => void told.push(name) })?.block('text', undefined, {
      any: 1,
    })
    expect(told).toEqual(['key block/text.smell', 'block ask'])
  })

  it('is not there where nobody listens', () => {
    expect(createDriftWatch(known)).toBeUndefined()
  })

  it('cuts names that a hostile file makes long', () => {
    const { told, seen } = watch()
    seen?.record('x'.repeat(1000), {})
    expect(told[0]?.name).toHaveLength(120)
  })
})
