import { describe, expect, it } from 'vitest'
import { checkId, createSessionId, isSafeId, isUuid, uuidFrom } from './ids.ts'

describe('ids', () => {
  it.each(['2025-01-15-ticket-to-pr-TK421', 'run-001', 'a.b_c', 'x'.repeat(128)])(
    'takes %j as a name',
    (id) => {
      expect(checkId(id, 'run id')).toBe(id)
    },
  )

  it.each(['', '..', '.hidden', '-rf', 'a/b', 'a\\b', 'a\0b', 'a..b', 'x'.repeat(300), 'a b', 'é', 'a\n'])(
    'refuses %j, names it and says what would do',
    (id) => {
      expect(isSafeId(id)).toBe(false)
      expect(() => checkId(id, 'run id')).toThrow(/not a safe run id/)
    },
  )

  it('makes session ids that sort by time', () => {
    const early = createSessionId(1_700_000_000_000)
    const late = createSessionId(1_700_000_000_001)
    expect(isUuid(early) && isUuid(late)).toBe(true)
    expect(early < late).toBe(true)
    expect(early[14]).toBe('7')
  })

  it('makes the same uuid of the same parts, and another of parts that only join to the same text', () => {
    expect(uuidFrom('a', 'b')).toBe(uuidFrom('a', 'b'))
    expect(uuidFrom('a', 'b')).not.toBe(uuidFrom('ab', ''))
    expect(isUuid(uuidFrom('a'))).toBe(true)
  })
})
