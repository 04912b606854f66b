import { describe, expect, it } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import { createJoinedText } from './joined-text.ts'

describe('a text of many pieces', () => {
  it('is what its pieces say, one after the other', () => {
    const joined = createJoinedText('a')
    expect(joined.text()).toBe('a')
    for (let n = 0; n < 10_000; n += 1) joined.add(`\n${n}`)
    const expected = `a${Array.from({ length: 10_000 }, (_, n) => `\n${n}`).join('')}`
    expect(joined.text()).toBe(expected)
    expect(joined).toHaveLength(expected.length)
  })

  it('takes about as much memory as it says, not as there are pieces', () => {
    const before = heldBytes()
    const joined = createJoinedText('')
    for (let n = 0; n < 1_000_000; n += 1) joined.add(`\n${String.fromCharCode(97 + (n % 26))}`)
    expect(heldBytes() - before).toBeLessThan(8e6)
    expect(joined).toHaveLength(2_000_000)
  })
})
