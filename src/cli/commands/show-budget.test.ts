import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../../test/arbitrary.ts'
import type { Block } from '../../transcript/block.ts'
import type { Entry } from '../../transcript/entry.ts'
import type { Session } from '../../transcript/session.ts'
import { TOKEN_BYTES } from '../budget.ts'
import { createDigest } from './show-budget.ts'

const SESSION: Session = { id: 'a-session', title: 'a title', status: 'completed' }

function entry(sequence: number, role: Entry['role'], ...blocks: readonly Block[]): Entry {
  return { id: `e${sequence}`, source: 'primary', sequence, kind: 'message', ...(role && { role }), blocks }
}

const text = (words: string): Block => ({ type: 'text', text: words })

/** A hundred entries of everyday work around a prompt, a failure, a change and an answer. */
function working(): Entry[] {
  const entries = [entry(0, 'user', text('the first prompt'))]
  for (let at = 1; at < 100; at += 1) {
    if (at === 40)
      entries.push(entry(at, 'tool', { type: 'tool-result', output: 'it failed here', isError: true }))
    else if (at === 60)
      entries.push(entry(at, 'assistant', { type: 'tool-call', name: 'Edit', input: { file_path: 'a.ts' } }))
    else if (at === 98) entries.push(entry(at, 'assistant', text('the last answer')))
    else if (at === 70)
      entries.push(
        entry(at, 'tool', { type: 'tool-result', output: `a needle among ${'straw '.repeat(200)}` }),
      )
    else entries.push(entry(at, 'tool', { type: 'tool-result', output: `${at} ${'straw '.repeat(200)}` }))
  }
  return entries
}

function digest(
  entries: readonly Entry[],
  tokens: number,
  more: { query?: string; json?: boolean } = {},
): string {
  const made = createDigest(SESSION, {
    tokens,
    json: more.json ?? true,
    utc: true,
    ...(more.query && { query: more.query }),
  })
  for (const one of entries) made.add(one)
  return made.end(false)
}

type Answer = {
  entries: { citation: string; blocks: unknown[]; isCut?: boolean }[]
  budget: { tokens: number; used: number; leftOut: number }
}
const parsed = (document: string): Answer => JSON.parse(document) as Answer

describe('a session within a budget', () => {
  it('is what was asked, what failed, what was changed and the last answer, in order, with citations', () => {
    const { entries, budget } = parsed(digest(working(), 600))
    expect(entries.map(({ citation }) => citation)).toEqual(
      expect.arrayContaining(['a-session#0', 'a-session#40', 'a-session#60', 'a-session#98']),
    )
    const order = entries.map(({ citation }) => Number(citation.split('#')[1]))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(budget.leftOut).toBe(100 - entries.length)
    expect(budget.used).toBeLessThanOrEqual(budget.tokens)
  })

  it('has first what a query asks for', () => {
    const without = parsed(digest(working(), 400)).entries.map(({ citation }) => citation)
    const first = parsed(digest(working(), 400, { query: 'needle' })).entries.map(({ citation }) => citation)
    expect(without).not.toContain('a-session#70')
    expect(first).toContain('a-session#70')
  })

  it('has all of a session that fits, and cuts what is long', () => {
    const few = working().slice(0, 3)
    const all = parsed(digest(few, 10_000))
    expect(all).toMatchObject({ budget: { leftOut: 0 }, entries: [{}, {}, {}] })
    expect(all.entries[1]?.isCut).toBeUndefined()
    const long = parsed(digest([entry(0, 'user', text('long '.repeat(10_000)))], 500))
    expect(long).toMatchObject({ budget: { leftOut: 0 }, entries: [{ isCut: true }] })
  })

  it('is read by people too', () => {
    const page = digest(working(), 500, { json: false })
    expect(page).toContain('a-session#0  unknown  user\nthe first prompt')
    expect(page).toMatch(/… \d+ left out/u)
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(500 * TOKEN_BYTES)
  })

  it('is never larger than the budget, and always a document, whatever the session says', () => {
    fc.assert(
      fc.property(
        transcript,
        fc.integer({ min: 400, max: 3000 }),
        fc.boolean(),
        ({ session, entries }, tokens, json) => {
          const made = createDigest(session, { tokens, json, utc: true })
          for (const one of entries) made.add(one)
          const answer = made.end(true)
          expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(tokens * TOKEN_BYTES)
          if (json) expect(parsed(answer).budget.used).toBeLessThanOrEqual(tokens)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('of fewer tokens than an answer takes is refused', () => {
    expect(() => createDigest(SESSION, { tokens: 10, json: true })).toThrow('holds no answer')
  })
})
