/** Checks docs/seeds.md: every requirement has a stand and a test, and the sums are right. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/seeds.md'), 'utf8')
const [intro = '', ...sections] = page.split(/^## /m)

/** Cells of every row of every table, without headings. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:requirement|seed) \|/.test(line))
    .map((line) => line.slice(2, -2).split(' | '))

const STAND = /^(met|met on request|not met)(?:: \S.*)?$/

const standOf = ([, stand = '']: readonly string[]): string => STAND.exec(stand)?.[1] ?? 'none'

describe('docs/seeds.md', () => {
  it('has a section for each of the five seeds, and one for what they share', () => {
    expect(sections.map((section) => section.split('\n')[0])).toEqual([
      'devflow (ADR-011)',
      'weakincentives (transcript capture)',
      'leslie (D04)',
      'Entire (session capture)',
      'swarm (transcript and receipt schema)',
      'Across the seeds',
    ])
  })

  it('says of every requirement whether it is met, how or why not, and which test holds that', () => {
    const odd = sections.flatMap(rowsOf).filter((row) => {
      const [, stand = '', , test = ''] = row
      return (
        row.length !== 4 ||
        standOf(row) === 'none' ||
        // "met" needs no words; the others say how, or why.
        stand.includes(':') === (standOf(row) === 'met') ||
        !/`[^`]+\.test\.ts` “[^”]+”/.test(test)
      )
    })
    expect(odd).toEqual([])
  })

  it('names code that is there', () => {
    const missing = sections
      .flatMap(rowsOf)
      .flatMap(([, , code = '']) => [...code.matchAll(/`([^`]+)`/g)].map(([, path]) => `src/${path}`))
      .filter((path) => !existsSync(join(root, path)))
    expect(missing).toEqual([])
  })

  it('counts its requirements by their stand', () => {
    const stated = rowsOf(intro).map((row) => row.slice(1).map(Number))
    const counted = sections.map((section) => {
      const stands = rowsOf(section).map(standOf)
      const count = (stand: string): number => stands.filter((other) => other === stand).length
      return [stands.length, count('met'), count('met on request'), count('not met')]
    })
    expect(stated).toEqual(counted)
  })
})
