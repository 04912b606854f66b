import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { citation, hasOwnId, parseCitation, PRIMARY, type Entry } from './entry.ts'

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

describe('an id', () => {
  const withId = (id: string): Entry => ({
    id,
    parent: null,
    source: PRIMARY,
    sequence: 1,
    kind: 'event',
    blocks: [],
  })

  it('is only the place of its entry, or more', () => {
    for (const id of ['primary/1', 'primary/1~', 'primary/1~~~']) expect(hasOwnId(withId(id))).toBe(false)
    for (const id of ['', '~', 'primary/10', 'primary/1~x', 'primary/1 ~', 'primary/2', 'x'])
      expect(hasOwnId(withId(id))).toBe(true)
  })

  it('is told apart in one go over it, however many signs it has that could be its end', () => {
    expect(hasOwnId(withId(`primary/1${'~'.repeat(2 ** 21)}x`))).toBe(true)
  })
})
