import { describe, expect, it } from 'vitest'
import type { Session } from '../transcript/session.ts'
import type { Usage } from '../transcript/usage.ts'
import { markedTokens, sessionTokens } from './amounts.ts'

const totals = { entries: 2, toolCalls: 0, calls: 1 }
const counted: Usage = { input: 4250, output: 530, quality: 'reported' }
const stated: Usage = { input: 7802, output: 1030, quality: 'estimated' }
const session = (facts: Partial<Session>): Session => ({ id: 's', status: 'completed', ...facts })

describe('the tokens of a session', () => {
  it('are those of its calls, with their sign, whatever its source states of the whole', () => {
    expect(markedTokens(session({ totals: { ...totals, usage: counted }, reportedUsage: stated }))).toEqual({
      in: '4,250',
      out: '530',
    })
    const partial = { ...counted, quality: 'partial' } as const
    const whole = { ...stated, quality: 'reported' } as const
    expect(markedTokens(session({ totals: { ...totals, usage: partial }, reportedUsage: whole }))).toEqual({
      in: '≥ 4,250',
      out: '≥ 530',
    })
    const short = { ...totals, usage: counted, uncounted: 1 }
    expect(sessionTokens(session({ totals: short, reportedUsage: whole }))).toEqual({
      in: 4250,
      out: 530,
      quality: 'partial',
    })
  })

  it('are what its source states, with the sign of that, where no call was counted', () => {
    const uncounted = { ...totals, calls: 0, uncounted: 6 }
    expect(markedTokens(session({ totals: uncounted, reportedUsage: stated }))).toEqual({
      in: '~ 7,802',
      out: '~ 1,030',
    })
    const nothing = { ...uncounted, usage: { quality: 'unavailable' } } as const
    expect(markedTokens(session({ totals: nothing, reportedUsage: stated })).in).toBe('~ 7,802')
    expect(markedTokens(session({ totals: nothing }))).toEqual({ in: 'unknown', out: 'unknown' })
  })
})
