import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fakeKeys, githubToken, scrambled } from '../../test/fake-keys.ts'
import { createRedactor } from './redactor.ts'
import { createView, wrappedLines } from './view.ts'

const redact = (text: string): string => createRedactor({ key: Buffer.alloc(32, 7) }).text(text)
const ESC = '\u001B'

describe('a view', () => {
  it('is the text itself when there is nothing to take out', () => {
    const text = 'const a = list[0]\nif (a % 2 === 0 && b) return `${a}`\n'
    expect(createView(text).text).toBe(text)
  })

  it.each([
    ['colours', `${ESC}[01;31m${ESC}[Kab${ESC}[m${ESC}[Kc`, 'abc'],
    ['colours as JSON writes them', '\\u001b[32mab\\u001B[0mc', 'abc'],
    ['colours as JSON in JSON writes them', '\\\\u001b[32mab\\\\u001b[0mc', 'abc'],
    ['colours as cat -v shows them', '^[[32mab^[[0mc', 'abc'],
    ['colours that lost their escape character', '[1;32mab[0mc', 'abc'],
    ['links', `${ESC}]8;;https://x.test${ESC}\\ab${ESC}]8;;${ESC}\\c`, 'https://x.testabc'],
    ['invisible characters', 'a\u200Bb\uFEFFc\u00AD', 'abc'],
    ['URL encoding', 'a%3Db%253Dc', 'a=b=c'],
    ['HTML', 'a&quot;b&#x27;&amp;&lt;c', 'a"b\'&<c'],
    ['escaped characters', 'a\\u003db\\x3Dc', 'a=b=c'],
  ])('is without %s', (_, text, seen) => {
    expect(createView(text).text).toBe(seen)
  })

  it('joins lines that were cut at a width, and no others', () => {
    const [one, two] = [scrambled(40, 1), scrambled(12, 2)]
    const joined = (text: string) => wrappedLines(text).map(({ view }) => view.text)
    expect(joined(`a\n${one}\n${two}\nb\n`)).toEqual([`${one}${two}`])
    expect(joined(`${one} a\n${two}\n`)).toEqual([])
    expect(joined(`A_KEY=${one.slice(6)}\nB_KEY=${two}`)).toEqual([])
  })

  it('leads back to the same characters, whatever was taken out', () => {
    const noise = fc.constantFrom(
      '\u200B',
      `${ESC}[0m`,
      '\\u001b[1m',
      '%3D',
      '&quot;',
      '\\u0022',
      '\n',
      '%',
      '&',
    )
    const piece = fc.oneof(noise, fc.string({ unit: fc.constantFrom('a', 'b', ' ', '='), maxLength: 30 }))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const original = pieces.join('')
        const view = createView(original)
        let last = 0
        for (let at = 0; at < view.text.length; at += 1) {
          const [start, end] = [view.start(at), view.end(at + 1)]
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end).toBeGreaterThan(start)
          const written = original.slice(start, end)
          expect(createView(written).text === view.text[at] || written === view.text[at]).toBe(true)
          last = end
        }
        expect(view.end(view.text.length)).toBeLessThanOrEqual(original.length)
      }),
      { numRuns: 500 },
    )
  })
})

const half = (text: string): number => Math.floor(text.length / 2)

/** What programs put around and into a key when they show it. */
const SHOWN: readonly (readonly [string, (key: string) => string])[] = [
  ['coloured', (key) => `${ESC}[32m${key}${ESC}[0m`],
  ['coloured by grep', (key) => `a:${ESC}[01;31m${ESC}[K${key}${ESC}[m${ESC}[K`],
  ['coloured, as JSON', (key) => `"out":"\\u001b[32m${key}\\u001b[0m"`],
  ['coloured inside', (key) => `${key.slice(0, half(key))}${ESC}[31m${key.slice(half(key))}${ESC}[0m`],
  ['with an invisible character', (key) => `${key.slice(0, half(key))}\u200B${key.slice(half(key))}`],
  ['URL-encoded', (key) => encodeURIComponent(`x="${key}"`)],
  ['in HTML', (key) => `<i>&quot;${key}&quot;</i>`],
  ['with Unicode escapes', (key) => `\\u0022${key}\\u0022`],
]

describe('keys that are shown otherwise', () => {
  it.each(SHOWN)('are found %s', (_, show) => {
    for (const [rule, key] of fakeKeys()) {
      const text = redact(`before ${show(key)} after`)
      expect(text).toMatch(/^before .*\[REDACTED:[a-z0-9-]+:[0-9a-f]{8}\].* after$/s)
      for (const part of [key.slice(0, half(key)), key.slice(half(key))])
        if (!part.includes('\n')) expect(text, rule).not.toContain(part)
    }
  })

  it('have the placeholder of the key itself', () => {
    const key = githubToken(1)
    const colored = `${key.slice(0, 9)}${ESC}[31m${key.slice(9)}`
    expect(redact(colored)).toBe(redact(key))
  })

  it('lose names and values of variables too', () => {
    const value = scrambled(20, 3)
    expect(redact(`DB_PASSWORD${ESC}[0m=${ESC}[33m${value}1${ESC}[0m`)).not.toContain(value)
    expect(redact(`password%3D${value}1%26x%3D1`)).not.toContain(value)
  })
})

const KINDS = ['RSA PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'PRIVATE KEY', 'PGP PRIVATE KEY BLOCK']
const body = Array.from({ length: 6 }, (_, n) => scrambled(64, n + 1))
const listings: readonly (readonly [string, (line: string, n: number) => string])[] = [
  ['arrows', (line, n) => `${String(n + 1).padStart(6)}→${line}`],
  ['tabs', (line, n) => `${String(n + 1).padStart(6)}\t${line}`],
  ['grep -n', (line, n) => `keys/id_rsa:${n + 1}:${line}`],
  ['cat -A', (line) => `${line}$`],
  ['cat -A of Windows', (line) => `${line}^M$`],
  ['added lines', (line) => `+${line}`],
  ['removed lines', (line) => `-${line}`],
  ['bat', (line, n) => `${String(n + 1).padStart(4)} │ ${line}`],
  ['a quotation', (line) => `> ${line}`],
  ['a list of strings', (line) => `  "${line}\\n",`],
  ['YAML', (line) => `    ${line}`],
]

describe('private keys', () => {
  it.each(listings)('are found whole and cut off, listed with %s', (_, list) => {
    for (const kind of KINDS) {
      const lines = [`-----BEGIN ${kind}-----`, ...body, `-----END ${kind}-----`]
      for (const count of [lines.length, 4]) {
        const shown = lines.slice(0, count).map(list).join('\n')
        const text = redact(`some file\n${shown}\nthe next: line`)
        for (const line of body) expect(text, kind).not.toContain(line.slice(20, 40))
        expect(text).toContain('the next: line')
      }
    }
  })

  it.each(listings)('of PuTTY are found, listed with %s', (_, list) => {
    const lines = [
      'PuTTY-User-Key-File-3: ssh-rsa',
      'Private-Lines: 6',
      ...body,
      `Private-MAC: ${'0a'.repeat(32)}`,
    ]
    const text = redact(`${lines.map(list).join('\n')}\nthe next: line`)
    for (const line of body) expect(text).not.toContain(line.slice(20, 40))
    expect(text).not.toContain('0a0a')
    expect(text).toContain('the next: line')
  })
})
