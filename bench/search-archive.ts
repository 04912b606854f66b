/**
 * The logs that searches are measured in, an archive that has them, and the same archive compressed. To make them takes longer than to
 * measure: where `HANSARD_BENCH_FOLDER` names a folder, they stay there for the next run.
 */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { openKept } from '../src/archive/kept.ts'
import { sync } from '../src/sources/sync.ts'
import { writeSearchLogs, type SearchLogs } from './search-logs.ts'

export type SearchArchives = {
  readonly folder: string
  readonly logs: SearchLogs
  /** Synced, and without an index. */
  readonly home: string
  /** The home of the same archive with its files compressed and the index that was built meanwhile, which the other has no more. */
  moveToPacked(): Promise<string>
  end(): void
}

export async function prepareSearchArchives(files: number): Promise<SearchArchives> {
  const kept = process.env['HANSARD_BENCH_FOLDER']
  const folder =
    kept === undefined ? fs.mkdtempSync(join(tmpdir(), 'hansard-search-')) : join(kept, `search-${files}`)
  const [home, packed] = [join(folder, 'home'), join(folder, 'packed')]
  const logs = once(join(folder, 'logs.json'), () =>
    writeSearchLogs(join(folder, 'claude'), { files, bytesEach: 500_000 }),
  )
  // What another version of this program left is taken in anew.
  await take(home)
  removeIndex(home)
  return {
    folder,
    logs,
    home,
    async moveToPacked() {
      if (!fs.existsSync(packed)) await makePacked()
      else copyState()
      await take(packed)
      removeIndex(packed)
      for (const name of indexNames(home))
        fs.renameSync(join(home, 'index', name), join(packed, 'index', name))
      return packed
    },
    end: () => kept === undefined && fs.rmSync(folder, { recursive: true, force: true }),
  }

  async function take(into: string): Promise<void> {
    const archive = openArchive(into, { write: true })
    await sync(archive, { env: { CLAUDE_CONFIG_DIR: logs.config }, userHome: folder, cwd: folder })
  }

  /** A state that was made anew, as another version's is, is not the one that the other archive's index goes by. */
  function copyState(): void {
    for (const into of fs.readdirSync(join(packed, 'index')).filter((name) => STATE.test(name)))
      fs.rmSync(join(packed, 'index', into))
    for (const name of fs.readdirSync(join(home, 'index')).filter((one) => STATE.test(one)))
      fs.copyFileSync(join(home, 'index', name), join(packed, 'index', name))
  }

  async function makePacked(): Promise<void> {
    const unfinished = `${packed}.unfinished`
    fs.rmSync(unfinished, { recursive: true, force: true })
    fs.cpSync(home, unfinished, { recursive: true, filter: (path) => !INDEX.test(path) })
    for (const place of openKept(openArchive(unfinished, { write: true })).places())
      for await (const path of place.paths()) await place.pack(path)
    fs.renameSync(unfinished, packed)
  }
}

function once<T>(path: string, make: () => T): T {
  if (fs.existsSync(path)) return JSON.parse(fs.readFileSync(path, 'utf8')) as T
  const made = make()
  fs.writeFileSync(path, JSON.stringify(made))
  return made
}

/** Databases, what SQLite has beside them, and the record of what they were like. */
const INDEX = /search(-\d+\.db.*|\.json)$/

const STATE = /^state\.db/

function indexNames(home: string): readonly string[] {
  return fs.readdirSync(join(home, 'index')).filter((name) => INDEX.test(name))
}

function removeIndex(home: string): void {
  for (const name of indexNames(home)) fs.rmSync(join(home, 'index', name))
}
