import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EXAMPLE, facts, FOLDER, only, user, write } from '../../test/leslie-thread.ts'
import { files, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import { SLUG_LIMIT, toSlug } from './leslie-name.ts'
import { leslie } from './leslie.ts'

const WHITELIST =
  /^(?:[\p{L}\p{M}\p{N}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}_]|(?<!^|-)-(?!$))+$/u

describe('file names', () => {
  const query = "帮我修复这个bug：TypeError: Cannot read property 'name' of undefined!!!"

  it('give the second example 50 characters; the seed prints 34, which no reading of its rule gives', async () => {
    const slug = toSlug(query)
    expect(slug).toBe('帮我修复这个bug-TypeError-Cannot-read-property-name-of-u')
    expect(Array.from(slug)).toHaveLength(50)
    const printed = '帮我修复这个bug-TypeError-Cannot-read-pr'
    expect(slug.startsWith(printed)).toBe(true)
    expect(Array.from(printed)).toHaveLength(34)
    const { files: written } = write([user(query, '2026-02-08T07:45:00.000Z')])
    expect([...written.keys()]).toEqual([`${FOLDER}/20260208-1545-${slug}.txt`])
    const [found] = await readAll(leslie, memorySource(files({ [`20260208-1545-${printed}.txt`]: EXAMPLE })))
    expect(found?.entries).toHaveLength(8)
  })

  it.each([
    ['fix login bug', 'fix-login-bug'],
    [
      "fix bug: TypeError: Cannot read property 'name' of undefined!!!",
      'fix-bug-TypeError-Cannot-read-property-name-of-und',
    ],
    ['ひらがな カタカナー 한국어 𠮷野家', 'ひらがな-カタカナー-한국어-𠮷野家'],
    ['Überprüfe das_Modul', 'Überprüfe-das_Modul'],
    ['cafe\u0301 '.repeat(10), Array(10).fill('caf\u00e9').join('-')],
    ['--- ../../etc/passwd\0', 'etc-passwd'],
    ['  !!! ', 'task'],
    ['', 'task'],
    ['🎉🎉', 'task'],
    [`${'a'.repeat(49)} b`, 'a'.repeat(49)],
    [`${'a'.repeat(48)} bc`, `${'a'.repeat(48)}-b`],
    ['𠮷'.repeat(60), '𠮷'.repeat(50)],
  ])('%j becomes %s', (text, slug) => expect(toSlug(text)).toBe(slug))

  it('never leave the whitelist, whatever was asked', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120 }), (text) => {
        const slug = toSlug(text)
        expect(slug).toMatch(WHITELIST)
        expect(Array.from(slug).length).toBeLessThanOrEqual(SLUG_LIMIT)
        expect(Buffer.byteLength(`20260208-1430-${slug}-9999.txt`)).toBeLessThan(255)
      }),
    )
  })

  it('say the local minute, by the zone asked for', () => {
    const at = '2026-07-01T23:30:00.000Z'
    for (const [timeZone, stamp, iso] of [
      ['UTC', '20260701-2330', '2026-07-01T23:30:00+00:00'],
      ['Asia/Kolkata', '20260702-0500', '2026-07-02T05:00:00+05:30'],
      ['America/New_York', '20260701-1930', '2026-07-01T19:30:00-04:00'],
    ] as const) {
      const { files: written } = writeTranscript(
        leslie,
        { session: facts, entries: [user('q', at)] },
        { timeZone },
      )
      expect([...written.keys()]).toEqual([`${FOLDER}/${stamp}-q.txt`])
      expect(only(written)).toContain(`Time Range: ${iso} ~ ${iso}\n`)
    }
  })

  it('keep twins of one minute apart, our own and those already there', async () => {
    const target = files({ [`${FOLDER}/20260208-1430-again.txt`]: 'somebody else' })
    write([user('again'), user('again', '2026-02-08T06:30:20.000Z'), user('again!')], {}, target)
    expect([...target.keys()].map((path) => path.slice(FOLDER.length + 1))).toEqual([
      '20260208-1430-again.txt',
      '20260208-1430-again-2.txt',
      '20260208-1430-again-3.txt',
      '20260208-1430-again-4.txt',
    ])
    expect(target.get(`${FOLDER}/20260208-1430-again.txt`)?.toString()).toBe('somebody else')
  })

  it('keep a twin apart from a query that is named like one', () => {
    const { files: written } = write([user('q'), user('q'), user('q 2'), user('q')])
    expect([...written.keys()].map((path) => path.slice(FOLDER.length + 15))).toEqual([
      'q.txt',
      'q-2.txt',
      'q-2-2.txt',
      'q-3.txt',
    ])
  })

  it('refuse a thread id that would lead elsewhere, and a time zone that is none', () => {
    for (const thread of ['../x', 'a/b', 'a\0', '', 'x'.repeat(300)]) {
      expect(() => write([], { thread })).toThrow(/thread id/)
    }
    const context = { taken: () => false, lost() {}, filled() {}, version: 'x', timeZone: 'Mars/Olympus' }
    expect(() => leslie.write?.begin(facts, context)).toThrow(/time zone/)
  })
})
