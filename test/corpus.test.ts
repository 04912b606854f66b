/** Real transcripts, where a folder of them stands beside the project: every record of every file is accounted for. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { coverage, filesBelow } from './coverage.ts'

const corpus = process.env['HANSARD_CORPUS'] ?? resolve(import.meta.dirname, '../../shared/corpus')
const kinds = ['entire', 'flow-studio', 'claude-code'].filter((kind) => existsSync(resolve(corpus, kind)))

describe.runIf(kinds.length > 0)('real transcripts', () => {
  it.each(kinds)('of %s are read without an exception and without losing a record', async (kind) => {
    const folder = resolve(corpus, kind)
    for (const path of filesBelow(folder)) {
      const { file, uncovered } = await coverage(path, folder)
      expect({ file, uncovered }).toEqual({ file, uncovered: [] })
    }
  })
})
