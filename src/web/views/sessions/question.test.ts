import { describe, expect, it } from 'vitest'
import { parseQuery } from '../../../search/query.ts'
import { hasWords, queryOf, questionOf, toggled } from './question.ts'

const asked = (search: string) => questionOf(new URLSearchParams(search))

describe('the question of the sessions list', () => {
  it('is read from the address', () => {
    const question = asked('q=login&agent=codex&agent=pi&sort=cost&reverse=true')
    expect(question.facets.agent).toEqual(['codex', 'pi'])
    expect([question.words, question.sort, question.isReversed]).toEqual(['login', 'cost', true])
    expect(asked('sort=<script>').sort).toBe('newest')
  })

  it('becomes a query that the parser takes as it was meant', () => {
    expect(queryOf(asked('q=login&agent=codex&agent=pi'))).toBe('login agent:codex,pi')
    expect(queryOf(asked('q=a+OR+b&status=failed'))).toBe('(a OR b) status:failed')
    expect(queryOf(asked('project=/my+"app"&project=/x'))).toBe('(project:"/my \\"app\\"" OR project:"/x")')
    const { condition } = parseQuery(queryOf(asked('project=/my+"app"&project=/x')))
    expect(JSON.stringify(condition)).toContain('/my \\"app\\"')
  })

  it('is asked without a facet to count its other values', () => {
    expect(queryOf(asked('agent=codex&status=failed'), 'agent')).toBe('status:failed')
  })

  it('knows words from fields', () => {
    expect(hasWords(asked('q=agent:codex+cost>1+-has:error'))).toBe(false)
    expect(hasWords(asked('q=agent:codex+login'))).toBe(true)
    expect(hasWords(asked('q='))).toBe(false)
  })

  it('turns values on and off', () => {
    expect(toggled(asked('agent=codex'), 'agent', 'codex')).toEqual({ agent: [] })
    expect(toggled(asked('agent=codex'), 'agent', 'pi')).toEqual({ agent: ['codex', 'pi'] })
  })
})
