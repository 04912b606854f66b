import { describe, expect, it } from 'vitest'
import type { Json } from '../transcript/json.ts'
import { createClaudeLearner } from './claude-shapes.ts'

/** An answer that gives a tool this. */
function answer(input: Json): { readonly line: () => string; readonly value: Json } {
  const value: Json = {
    parentUuid: null,
    isSidechain: false,
    sessionId: 's',
    uuid: 'u',
    timestamp: '2026-03-04T10:00:00.000Z',
    type: 'assistant',
    message: {
      model: 'claude-opus-4-5',
      id: 'm',
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't', name: 'TodoWrite', input }],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 2 },
    },
  }
  return { line: () => JSON.stringify(value), value }
}

const ORDINARY = answer({ file_path: '/a' })
/** Looks ordinary, and has a list that may be of any length. */
const IN_VAIN = answer({ todos: [{ content: 'x' }] })

describe('lines that others may be like', () => {
  it('are learnt from until a thousand were none', () => {
    for (const [count, isLearnt] of [
      [1000, true],
      [1001, false],
    ] as const) {
      const learn = createClaudeLearner()
      for (let n = 0; n < count; n += 1) expect(learn(IN_VAIN.line, IN_VAIN.value)).toBeUndefined()
      expect(learn(ORDINARY.line, ORDINARY.value) !== undefined).toBe(isLearnt)
    }
  })

  it('make up for twenty that were none', () => {
    const learn = createClaudeLearner()
    for (let n = 0; n < 1000; n += 1) learn(IN_VAIN.line, IN_VAIN.value)
    for (let round = 0; round < 3; round += 1) {
      expect(learn(ORDINARY.line, ORDINARY.value)).toBeDefined()
      for (let n = 0; n < 20; n += 1) learn(IN_VAIN.line, IN_VAIN.value)
    }
    learn(IN_VAIN.line, IN_VAIN.value)
    expect(learn(ORDINARY.line, ORDINARY.value)).toBeUndefined()
  })

  it('are not looked at again once a thousand were none', () => {
    const learn = createClaudeLearner()
    for (let n = 0; n < 1001; n += 1) learn(IN_VAIN.line, IN_VAIN.value)
    const asked = (): string => {
      throw new Error('asked for its bytes')
    }
    expect(learn(asked, ORDINARY.value)).toBeUndefined()
  })
})
