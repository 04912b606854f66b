import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { asBlock, hasBlob, isBlobRef, outputText, textOf, type Block } from './block.ts'

describe('a block from someone else', () => {
  it('is the same object when it is one of ours', () => {
    fc.assert(
      fc.property(transcript, ({ entries }) => {
        for (const { blocks } of entries) for (const block of blocks) expect(asBlock(block)).toBe(block)
      }),
    )
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text that is no block', 'hello'],
    ['a number', 42],
    ['a list', [{ type: 'text', text: 'x' }]],
    ['a type we do not have', { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { cmd: 'ls' } }],
    ['a type that only objects have', { type: 'constructor' }],
    ['no type', { text: 'x' }],
    ['text that is a number', { type: 'text', text: 42 }],
    ['text that is absent', { type: 'text' }],
    ['half a reference', { type: 'text', text: { blob: 'sha256:0', bytes: 1 } }],
    ['a signature that is a list', { type: 'thinking', text: '', signature: [1] }],
    ['a call without a name', { type: 'tool-call', input: {} }],
    ['a call whose id is null', { type: 'tool-call', callId: null, name: 'x' }],
    ['input by a reference that is none', { type: 'tool-call', name: 'x', inputBlob: {} }],
    ['a result that is structure', { type: 'tool-result', output: { stdout: 'x' } }],
    ['a result whose error is structure', { type: 'tool-result', error: { code: 1 } }],
    ['a result that says yes', { type: 'tool-result', isError: 'yes' }],
    ['an image of bytes', { type: 'image', data: [1, 2, 3] }],
    ['an error without a message', { type: 'error', code: 'x' }],
    ['fields apart that are nowhere', { type: 'error', message: 'x', apart: { message: 'there' } }],
    ['an unknown of nothing', { type: 'unknown' }],
  ])('is an unknown block that keeps %s', (_, value) => {
    expect(asBlock(value)).toEqual({ type: 'unknown', raw: value ?? null })
  })

  it('keeps the parts of a result that are blocks, and those that are none as unknown', () => {
    const text: Block = { type: 'text', text: 'kept' }
    expect(asBlock({ type: 'tool-result', callId: 'c', output: [text, null, { type: 'text' }] })).toEqual({
      type: 'tool-result',
      callId: 'c',
      output: [text, { type: 'unknown', raw: null }, { type: 'unknown', raw: { type: 'text' } }],
    })
  })

  it('goes through any depth, and what it gives can be gone through', () => {
    let value: unknown = { type: 'text', text: 'x' }
    for (let n = 0; n < 100_000; n += 1) value = { type: 'tool-result', output: [value] }
    const block = asBlock(value)
    expect(block.type === 'tool-result' && outputText(block)).toContain('tool-result')
  })

  it('never throws, and gives what every question about blocks can be asked of', () => {
    const throwing = {
      get type(): string {
        throw new Error('no')
      },
    }
    expect(asBlock(throwing)).toEqual({ type: 'unknown', raw: null, reason: 'not readable' })
    fc.assert(
      fc.property(
        fc.anything(),
        fc.constantFrom('text', 'thinking', 'tool-call', 'tool-result', 'image', 'error', 'unknown'),
        (value, type) => {
          for (const any of [value, Object.assign(Object.create(null), value, { type })]) {
            const block = asBlock(any)
            expect(typeof hasBlob(block)).toBe('boolean')
            expect(typeof textOf([block])).toBe('string')
          }
        },
      ),
    )
  })

  it('has a reference only where all of one is there', () => {
    const blob = { blob: 'sha256:0', bytes: 1, mediaType: 'text/plain' }
    expect(isBlobRef(blob)).toBe(true)
    for (const key of Object.keys(blob)) expect(isBlobRef({ ...blob, [key]: {} })).toBe(false)
  })
})
