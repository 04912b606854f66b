/** docs/seeds.md is complete in itself: a test or a later part of the work for every row, and files that exist. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/seeds.md'), 'utf8')
const sections = page.split(/^## /m).slice(1)
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:requirement|seed) \|/.test(line))
    .map((line) => line.slice(2, -2).split(' | '))
const isLater = (row: readonly string[]): boolean => row.length === 2

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

  it('says for every requirement which test holds it, or what it waits for', () => {
    const odd = sections.flatMap(rowsOf).filter((row) => {
      const last = row.at(-1) ?? ''
      return isLater(row)
        ? !/^later: (?:capture|server|search)$/.test(last)
        : row.length !== 3 || !/`[^`]+\.test\.ts` “[^”]+”/.test(last)
    })
    expect(odd).toEqual([])
  })

  it('names code that is there', () => {
    const missing = sections
      .flatMap(rowsOf)
      .filter((row) => !isLater(row))
      .flatMap(([, code = '']) => [...code.matchAll(/`([^`]+)`/g)].map(([, path]) => `src/${path}`))
      .filter((path) => !existsSync(join(root, path)))
    expect(missing).toEqual([])
  })

  it('counts what it holds', () => {
    const stated = rowsOf(page.split(/^## /m)[0] as string).map((row) => row.slice(1).map(Number))
    const counted = sections.slice(0, 5).map((section) => {
      const rows = rowsOf(section)
      const later = rows.filter(isLater).length
      return [rows.length, rows.length - later, later]
    })
    expect(stated).toEqual(counted)
  })
})
