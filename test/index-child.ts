/**
 * A program that indexes an archive over and over, from nothing each time it is done, until it is killed.
 *
 *     node index-child.js HOME
 */
import fs from 'node:fs'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { catchUpIndex } from '../src/search/indexer.ts'

const [home = '.'] = process.argv.slice(2)
const archive = openArchive(home)
fs.writeSync(1, 'ready\n')
for (;;) {
  await catchUpIndex(archive, { batchBytes: 20_000 })
  for (const name of fs.readdirSync(join(home, 'index'))) {
    if (/^search-\d+\.db/.test(name)) fs.rmSync(join(home, 'index', name), { force: true })
  }
}
