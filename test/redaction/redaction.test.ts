import fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../src/redact/redactor.ts'
import { measureCleanFiles, MOST_TAKEN } from './clean-files.ts'
import { FORMS } from './forms.ts'
import { makeCorpus, measureCorpus } from './measure.ts'
import { brokenPromises } from './promises.ts'
import { formTable, kindTable } from './tables.ts'

const root = join(import.meta.dirname, '../..')
const measured = measureCorpus(makeCorpus())

describe('redaction of invented secrets', () => {
  it('finds what it promises, in every form', () => {
    expect(brokenPromises(measured)).toEqual([])
  })

  it('finds as much of values that it has not seen', () => {
    expect(brokenPromises(measureCorpus(makeCorpus(20_261)))).toEqual([])
  })

  it('is what docs/redaction.md says', () => {
    const page = fs.readFileSync(join(root, 'docs/redaction.md'), 'utf8')
    for (const line of `${kindTable(measured)}\n${formTable(measured)}`.split('\n'))
      expect(page).toContain(line)
    expect(page).toContain(
      `${measured.values} invented values of ${measured.carriers} vendors and carriers, in ${FORMS.length} forms`,
    )
  })

  it('counts a value as missed when a part of it is left', () => {
    const [value] = makeCorpus()
    const harmless = {
      ...(value as (typeof measured.missed)[number]),
      text: 'some words',
      parts: ['some words'],
    }
    const blind = measureCorpus([harmless])
    expect(blind.missed).toEqual([harmless])
    expect(brokenPromises(blind).length).toBeGreaterThan(0)
  })
})

describe('redaction of clean files', () => {
  it('takes 0.2 in 100 KB at most out of the code and documentation of our dependencies', () => {
    const redactor = createRedactor({ key: Buffer.alloc(32, 7) })
    const { bytes, taken } = measureCleanFiles([join(root, 'node_modules')], redactor, 30_000_000)
    expect(bytes).toBeGreaterThan(10_000_000)
    expect(taken.length / (bytes / 100_000)).toBeLessThanOrEqual(MOST_TAKEN)
  })
})
