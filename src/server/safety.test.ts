import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refuse, type Asked, type Door } from './safety.ts'

const door: Door = {
  hosts: new Set(['127.0.0.1:1']),
  isKnown: ({ authorization }) => authorization === 'yes',
}
const asked = (url: string, more: Partial<Asked> = {}): Asked => ({
  method: 'GET',
  url,
  headers: { host: '127.0.0.1:1' },
  hosts: 1,
  ...more,
})

/** What a path may be made of to lead elsewhere. */
const piece = fc.constantFrom(
  '/',
  '.',
  '..',
  '%',
  '%2e',
  '%2E',
  '%2f',
  '%5c',
  '%25',
  '25',
  '2e',
  '\\',
  '%00',
  '%c0%ae',
  'a',
  'api',
  '?',
  '#',
  ';',
  '\0',
  '\n',
)

describe('a path that is let in', () => {
  it.each(['/%2e%25252e', '/%2e%252e', '/a/%25252e.', '/%2525252561'])('is not %s', (url) => {
    const headers = { host: '127.0.0.1:1', authorization: 'yes' }
    expect(refuse(asked(url, { headers }), door)?.code).toBe('unsafe-path')
  })

  it('leads nowhere else, however often it is decoded', () => {
    let letIn = 0
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const url = `/${pieces.join('')}`
        const refusal = refuse(asked(url, { headers: { host: '127.0.0.1:1', authorization: 'yes' } }), door)
        if (refusal !== undefined) return
        letIn += 1
        let text = url.split('?', 1)[0] ?? ''
        for (let times = 0; times < 6; times += 1) {
          expect(text.split('/')).not.toContain('..')
          expect(text).not.toMatch(/[\\\0\n]|\/\//)
          try {
            text = decodeURIComponent(text)
          } catch {
            return
          }
        }
      }),
      { numRuns: 5000 },
    )
    expect(letIn).toBeGreaterThan(100)
  })

  it('is of the API only with the token, however it is spelled', () => {
    const spelled = fc.tuple(
      ...Array.from('api', (letter) =>
        fc.constantFrom(
          letter,
          letter.toUpperCase(),
          `%${letter.charCodeAt(0).toString(16)}`,
          `%25${letter.charCodeAt(0).toString(16)}`,
        ),
      ),
    )
    fc.assert(
      fc.property(spelled, fc.constantFrom('', '/', '/v1/sessions'), (letters, rest) => {
        const url = `/${letters.join('')}${rest}`
        const isOnceDecoded = /^\/api(?:\/|$)/i.test(decodeURIComponent(url))
        expect(refuse(asked(url), door)?.status).toBe(isOnceDecoded ? 401 : undefined)
      }),
    )
  })

  it('is an ordinary one, whatever script it is in', () => {
    for (const url of [
      '/',
      '/sessions/a-b_c.d',
      '/sessions/100%25',
      '/caf%C3%A9',
      '/a?x=../..',
      '/cost/',
      '/a..b',
      '/..a',
    ])
      expect(refuse(asked(url), door), url).toBeUndefined()
  })
})
