/** What searches find in a folder of transcripts, against going through all that `show` shows of them. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { importInputs } from '../src/sources/import.ts'
import { ASKED } from './asked-searches.ts'
import { compareSearches, type Difference } from './compared-searches.ts'
import { madeOf } from './made-searches.ts'
import { readPlainly } from './plain-search.ts'

export type SearchCheck = {
  readonly searches: number
  readonly entries: number
  readonly differing: readonly Difference[]
}

/** Searches made of the folder's own texts, besides those that are fixed. */
const MADE = 200

export async function checkSearches(root: string): Promise<SearchCheck> {
  const home = fs.mkdtempSync(join(tmpdir(), 'hansard-searches-'))
  try {
    const archive = openArchive(home, { write: true })
    await importInputs(archive, [{ path: root }])
    await catchUpIndex(archive)
    const all = await readPlainly(home)
    const asked = [...ASKED, ...madeOf(all, MADE)]
    return {
      searches: asked.length,
      entries: all.length,
      differing: await compareSearches(archive, all, asked),
    }
  } finally {
    fs.rmSync(home, { recursive: true, force: true })
  }
}
