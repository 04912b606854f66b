import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openDatabase } from './driver.ts'
import { storedJson, storedText } from './stored.ts'

const units = fc.constantFrom(
  '\ud800',
  '\udc00',
  '\udbff',
  '\\',
  '\\ud800',
  'ud800',
  '"',
  '\0',
  'a',
  '\u{1f600}',
  '\\u',
)
const text = fc.array(units, { maxLength: 12 }).map((parts) => parts.join(''))

const whole = (one: string): string => one.replaceAll(/\p{Cs}/gu, '\ufffd')

describe('what is stored', () => {
  it('comes back from whatever SQLite makes of it, half characters and NULs in it', async () => {
    const folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-stored-'))
    const database = await openDatabase(join(folder, 'a.db'))
    database.exec('CREATE TABLE a (doc TEXT, text TEXT)')
    const insert = database.prepare('INSERT INTO a VALUES (?, ?)')
    fc.assert(
      fc.property(text, (one) => {
        database.exec('DELETE FROM a')
        insert.run(storedJson({ [`k${one}`]: 1, title: one, list: [one, one] }), storedText(one))
        const row = database.prepare(`SELECT text, doc, json_extract(doc, '$.list') AS list FROM a`).get()
        expect(row?.['text']).toBe(whole(one).replaceAll('\0', '\u2400'))
        expect(JSON.parse(String(row?.['list']))).toEqual([whole(one), whole(one)])
        // Taken apart by SQLite, which a NUL cuts and nothing breaks.
        const values = database.prepare(`SELECT value FROM a, json_each(json_extract(doc, '$.list'))`).all()
        const [before] = whole(one).split('\0')
        for (const { value } of values) expect(String(value).split('\0')[0]).toBe(before)
        expect(Object.keys(JSON.parse(String(row?.['doc'])) as object)[0]).toBe(`k${whole(one)}`)
      }),
      { numRuns: 150 },
    )
    database.close()
    fs.rmSync(folder, { recursive: true })
  })

  it('is to the letter what JSON says where nothing is wrong with it', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const value: unknown = JSON.parse(json)
        const written = JSON.stringify(value)
        if (!/\\ud/.test(written)) expect(storedJson(value)).toBe(written)
      }),
    )
    expect(storedJson('\\ud800')).toBe('"\\\\ud800"')
    expect(storedJson('\ud800\ud800')).toBe('"\\ufffd\\ufffd"')
  })
})
