import { describe, expect, it } from 'vitest'
import { createRedactor } from '../redact/redactor.ts'
import { toShown } from '../search/outline-trim.ts'
import type { Entry } from '../transcript/entry.ts'
import { cutEntry, LONGEST_READ } from './cut-entry.ts'

const redactor = createRedactor({ key: Buffer.alloc(32, 1) })
/** Put together here, for whoever looks for secrets in this file. */
const KEY = `ghp_${'a1B2'.repeat(9)}`

function entryWith(output: string, more: object = {}): Entry {
  return {
    id: 'e',
    source: 'primary',
    sequence: 0,
    kind: 'message',
    role: 'tool',
    blocks: [{ type: 'tool-result', callId: 'c', output, ...more }],
  }
}

function shownOf(entry: Entry): { readonly text: string; readonly cut: object | undefined } {
  const { entry: read = entry, lengths } = toShown(entry, LONGEST_READ, redactor)
  const { entry: shown, cut } = cutEntry(read, lengths)
  return { text: JSON.stringify(shown), cut }
}

describe('an entry that is cut before secrets are looked for', () => {
  it('says how long the whole is, not what was read of it', () => {
    const output = 'é'.repeat(5_000_000)
    const { text, cut } = shownOf(entryWith(output))
    expect(cut).toEqual({ 'blocks.0.output': 10_000_000 })
    expect(text.length).toBeLessThan(30_000)
  })

  it('shows no part of a secret, wherever in it something ends', () => {
    for (const end of [20_000, LONGEST_READ])
      for (let at = end - KEY.length; at <= end; at += 5) {
        const { text } = shownOf(entryWith(`${'x '.repeat(at / 2)}${KEY} ${'y '.repeat(300_000)}`))
        expect([end, at, text.includes(KEY.slice(0, 12))]).toEqual([end, at, false])
      }
  })

  it('keeps members of any name, and the others as they are', () => {
    const input = JSON.parse(`{"__proto__":"${'z'.repeat(500_000)}","a":[1,null,"b"]}`) as object
    const { entry } = toShown(entryWith('short', { input }), LONGEST_READ, redactor)
    const block = entry?.blocks[0] as unknown as { readonly input: object }
    expect(Object.keys(block.input)).toEqual(['__proto__', 'a'])
    expect(Reflect.get(block.input, 'a')).toEqual([1, null, 'b'])
  })
})
