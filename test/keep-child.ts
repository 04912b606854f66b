/**
 * A program that keeps a file over and over, until it is killed.
 *
 *     node keep-child.js HOME ROOT PATH
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { openKept } from '../src/archive/kept.ts'

const [home = '.', root = '.', path = 'x'] = process.argv.slice(2)
const place = openKept(openArchive(home, { write: true })).place('codex', root)

/** Says how many bytes are kept, each time they are. */
for (;;) {
  const { bytes } = await place.keep(path, { file: join(root, path) })
  writeSync(1, `${bytes}\n`)
}
