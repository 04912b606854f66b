import { describe, expect, it } from 'vitest'
import { entry } from '../../test/entries.ts'
import { assistant, facts, FOLDER, only, user, write } from '../../test/leslie-thread.ts'
import { files, writeTranscript } from '../../test/memory-files.ts'
import { byAge } from './leslie-name.ts'
import { FILE_LIMIT, TOOL_LIMIT, truncate } from './leslie-unit.ts'
import { KEPT_FILES } from './leslie-write.ts'
import { leslie } from './leslie.ts'

describe('truncation', () => {
  it('of one minute are deleted in the order they were written, and never the one just written', () => {
    const kept = (queries: readonly string[], before: Readonly<Record<string, string>> = {}): string[] => {
      const target = files(before)
      const units = queries.map((query) => user(query, '2026-02-08T06:30:00.000Z'))
      writeTranscript(leslie, { session: facts, entries: units }, { files: target, timeZone: 'UTC' })
      return [...target.keys()].map((path) => path.slice(`${FOLDER}/20260208-0630-`.length, -'.txt'.length))
    }
    const number = (n: number): string => `query ${n}`
    const numbers = Array.from({ length: KEPT_FILES }, (_, n) => number(n))
    const names = kept([...numbers, 'again the newest'])
    expect(names).toHaveLength(KEPT_FILES)
    expect(names).toContain('again-the-newest')
    expect(names).not.toContain('query-0')
    // Twins: 52 of one query leave the last 50, of which the first two are gone.
    const twins = kept(Array.from({ length: KEPT_FILES + 2 }, () => 'same'))
    expect(twins).toEqual(Array.from({ length: KEPT_FILES }, (_, n) => `same-${n + 3}`))
    // Files of other sessions that say a later minute do not push out the one that was just written.
    const later = Array.from({ length: KEPT_FILES }, (_, n) => [`${FOLDER}/20270101-00${n + 10}-x.txt`, 'x'])
    expect(kept(['old'], Object.fromEntries(later))).toContain('old')
    expect(
      ['same-10.txt', 'same.txt', 'same-2.txt'].map((name) => `20260208-0630-${name}`).sort(byAge([])),
    ).toEqual(['same.txt', 'same-2.txt', 'same-10.txt'].map((name) => `20260208-0630-${name}`))
  })

  it.each([199, 200, 201, 250])(
    'of %i characters of parameters and results ends at 200, in characters',
    (length) => {
      for (const unit of ['a', '界', '𠮷']) {
        const text = unit.repeat(length)
        const { files: written, lost } = write([
          user('q'),
          assistant({ type: 'tool-call', name: 't', input: text }),
          entry('tool', undefined, { type: 'tool-result', name: 't', output: text }),
        ])
        const kept = length <= TOOL_LIMIT ? text : `${unit.repeat(TOOL_LIMIT - 3)}...`
        expect(only(written)).toContain(`[Tool call] t\n${kept}\n\n[Tool result] t\n${kept}\n`)
        expect(Array.from(kept).length).toBeLessThanOrEqual(TOOL_LIMIT)
        expect(lost.filter(({ what }) => what.includes('200 characters'))).toHaveLength(
          length > TOOL_LIMIT ? 2 : 0,
        )
      }
    },
  )

  it('leaves errors whole, as the table does', () => {
    const message = 'e'.repeat(5000)
    expect(only(write([user('q'), entry(undefined, undefined, { type: 'error', message })]).files)).toContain(
      message,
    )
  })

  it('cuts a file at 20 KB in bytes, at a character, wherever the limit falls in it', () => {
    const room = FILE_LIMIT - Buffer.byteLength(only(write([user('q'), assistant('')]).files))
    for (const character of ['a', 'é', '界', '𠮷']) {
      for (let extra = -4; extra <= 8; extra += 1) {
        const pad = 'x'.repeat(4 + (extra & 3))
        const fill = Math.floor((room - pad.length + extra) / Buffer.byteLength(character))
        const text = pad + character.repeat(fill)
        const { files: written, lost } = write([user('q'), assistant(text), assistant('after')])
        const file = only(written)
        expect(Buffer.byteLength(file)).toBeLessThanOrEqual(FILE_LIMIT)
        expect(Buffer.byteLength(file)).toBeGreaterThan(FILE_LIMIT - 30)
        expect(file).not.toContain('\uFFFD')
        if (file.endsWith('...\n')) expect(lost.some(({ what }) => what.includes('20 KB'))).toBe(true)
      }
    }
  })

  it('leaves a file of exactly 20 KB whole', () => {
    const room = FILE_LIMIT - Buffer.byteLength(only(write([user('q'), assistant('')]).files))
    const exact = write([user('q'), assistant('x'.repeat(room))])
    expect(Buffer.byteLength(only(exact.files))).toBe(FILE_LIMIT)
    expect(exact.lost.filter(({ what }) => what.includes('20 KB'))).toEqual([])
    const over = write([user('q'), assistant('x'.repeat(room + 1))])
    expect(Buffer.byteLength(only(over.files))).toBe(FILE_LIMIT)
    expect(only(over.files)).toMatch(/x\.\.\.\n$/)
  })

  it('reports every entry that did not fit, and holds no more than fits', () => {
    const entries = [user('q'), ...Array.from({ length: 30 }, () => assistant('x'.repeat(3000)))]
    const { lost } = write(entries)
    expect(lost.filter(({ what }) => what.includes('20 KB'))).toHaveLength(24)
  })

  it('counts characters as people do not halve them', () => {
    expect(truncate('😀'.repeat(201))).toBe(`${'😀'.repeat(197)}...`)
    expect(truncate('😀'.repeat(150))).toBe('😀'.repeat(150))
  })
})
