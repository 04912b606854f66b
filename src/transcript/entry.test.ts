import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { citation, parseCitation, PRIMARY } from './entry.ts'

describe('a citation', () => {
  it('is taken apart into what it was made of', () => {
    const source = fc.oneof(fc.constant(PRIMARY), fc.stringMatching(/^subagent:[\w/#.-]{1,40}$/))
    fc.assert(
      fc.property(fc.uuid(), source, fc.nat(), (session, source, sequence) => {
        expect(parseCitation(citation(session, { source, sequence }))).toEqual({ session, source, sequence })
      }),
    )
  })

  it('is none without an id, a place or a number', () => {
    for (const text of ['', '#1', 'a#', 'a', 'a#x', '../a#1', 'a#-1', `${'x'.repeat(200)}#1`])
      expect(parseCitation(text)).toBeUndefined()
  })
})
