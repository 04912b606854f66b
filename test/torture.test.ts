/** The torture set: every known way to miscount, read through the public path, exact to the token. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tortureCases } from './torture/cases.ts'
import { measure } from './torture/measure.ts'
import { withTable } from './torture/table.ts'

const cases = tortureCases.map((one) => [`${one.format}: ${one.name}`, one] as const)

describe('counted exactly', () => {
  it.each(cases)('%s', async (_, one) => {
    const { tally, byModel, formats } = await measure(one)
    expect(formats).toEqual((one.open ?? ['.']).map(() => one.format))
    expect(tally).toEqual(one.truth)
    if (one.byModel !== undefined) expect(byModel).toEqual(one.byModel)
  })
})

describe('counted the same in whatever order files are found', () => {
  it.each(cases.filter(([, { open = [] }]) => open.length > 1))('%s', async (_, one) => {
    expect((await measure({ ...one, open: one.open?.toReversed() ?? [] })).tally).toEqual(one.truth)
  })
})

describe('miscounted by a hasty reader', () => {
  it.each(cases)('%s', (_, one) => {
    expect(one.truth).not.toMatchObject(one.naive.count(one.files))
  })
})

describe('docs/truth.md', () => {
  const path = join(import.meta.dirname, '../docs/truth.md')

  it('shows what the torture set comes to', async () => {
    const page = readFileSync(path, 'utf8')
    const now = await withTable(page, tortureCases)
    if (process.env['HANSARD_WRITE_DOCS'] === '1') writeFileSync(path, now)
    else expect(page).toBe(now)
  })
})
