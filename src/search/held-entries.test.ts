import { describe, expect, it } from 'vitest'
import type { Json } from '../transcript/json.ts'
import type { Entry } from '../transcript/entry.ts'
import { createHolding, isLight } from './held-entries.ts'

const saying = (raw: Json): Entry => ({
  id: 'a',
  source: 'primary',
  sequence: 0,
  kind: 'message',
  blocks: [{ type: 'unknown', raw }],
})

describe('entries that are held', () => {
  it('are as many as there is room for, whichever come first', () => {
    const isHeld = createHolding(1000)
    expect([600, 600, 300, 10].map((length) => isHeld(saying('x'.repeat(length))))).toEqual([
      true,
      false,
      true,
      true,
    ])
  })

  it('are weighed with all that is in them, however deep and however little it is', () => {
    let deep: Json = 'x'.repeat(300 * 1024)
    for (let depth = 0; depth < 20_000; depth += 1) deep = { deep }
    expect(isLight(saying(deep))).toBe(false)
    expect(isLight(saying(Array<Json>(300 * 1024).fill(0)))).toBe(false)
    expect(isLight(saying(['x'.repeat(200 * 1024)]))).toBe(true)
  })
})
