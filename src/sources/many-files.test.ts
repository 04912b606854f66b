/** A session that lies in thousands of files: what is held of each is little, and none is looked at for each other. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claudeLog } from '../../test/machine.ts'
import { openArchive } from '../archive/archive.ts'
import { openKept } from '../archive/kept.ts'
import { claudeCode } from '../formats/claude-code.ts'
import { openDatabase } from '../sqlite/driver.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { withOwn } from './listed-file.ts'
import { collect, oneAtATime } from './one-at-a-time.ts'
import { openFiles } from './open-files.ts'
import { openSource, type OpenSource } from './open.ts'
import { openStateFiles } from './state-files.ts'
import { SCHEMA } from './state-schema.ts'
import { keptSource } from './versions.ts'

const COUNT = 1000
const base = fs.mkdtempSync(join(tmpdir(), 'hansard-many-'))
const root = join(base, 'projects')
const SESSION = '11111111-1111-4111-8111-111111111111'
const paths: string[] = []

beforeAll(async () => {
  const folder = `p/${SESSION}/subagents`
  fs.mkdirSync(join(root, folder), { recursive: true })
  fs.writeFileSync(join(root, `p/${SESSION}.jsonl`), claudeLog(0, { session: SESSION }))
  for (let n = 0; n < COUNT; n += 1) {
    const path = `${folder}/agent-${String(n).padStart(6, '0')}.jsonl`
    fs.writeFileSync(join(root, path), claudeLog(n, { session: SESSION }))
    paths.push(path)
  }
  paths.push(`p/${SESSION}.jsonl`)
})
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

/** Bytes of the heap. */
async function heldBy<T>(make: () => Promise<T>): Promise<{ readonly held: number; readonly made: T }> {
  await make()
  await nextTurn()
  collect()
  const before = process.memoryUsage().heapUsed
  const made = await make()
  await nextTurn()
  collect()
  return { held: process.memoryUsage().heapUsed - before, made }
}

describe('a session of thousands of files', () => {
  it('holds of each no more than what it is called, wherever it lies', async () => {
    const kept = openKept(openArchive(join(base, 'kept'))).place('claude-code', root)
    for (const path of paths) await kept.keep(path, { file: join(root, path) })
    const ways: readonly (() => Promise<OpenSource>)[] = [
      () => openFiles(root, paths),
      () => openSource(root),
      async () => keptSource(kept, paths),
    ]
    for (const open of ways) {
      const list = async (): Promise<readonly SourceFile[]> => oneAtATime(await open(), async () => {}).list()
      const { held, made } = await heldBy(list)
      expect(made).toHaveLength(COUNT + 1)
      // Paths of 80 characters, and as much again for all else.
      expect(held / COUNT).toBeLessThan(500)
      const [file] = made
      expect((await file?.bytes(1e6))?.length).toBe(file?.sizeBytes)
      expect((await file?.head(10))?.toString()).toBe('{"uuid":"1')
    }
  })

  it('is not looked at as a whole for each of them', async () => {
    let asked = 0
    const source: Source = await openFiles(root, paths)
    const watch = (file: SourceFile): SourceFile =>
      Object.defineProperty(withOwn(file, {}), 'path', {
        get() {
          asked += 1
          return file.path
        },
      })
    const files = (await source.list()).map(watch)
    let entries = 0
    for await (const items of claudeCode.read({ ...source, list: async () => files }, { isForFacts: true }))
      entries += items.filter(({ type }) => type === 'entry').length
    expect(entries).toBe(COUNT + 1)
    expect(asked / COUNT).toBeLessThan(100)
  })

  it('is known with all its files, in order', async () => {
    const database = await openDatabase(':memory:')
    database.exec(SCHEMA)
    const asked: string[] = []
    const watched: typeof database = {
      ...database,
      prepare(sql) {
        asked.push(sql)
        return database.prepare(sql)
      },
    }
    const files = openStateFiles(watched)
    const place = files.place('claude-code', root)
    files.look(
      place,
      paths.map((path, n) => ({ path, stamp: 's', size: n })),
      true,
    )
    for (const file of files.pending(0, paths.length)) files.taken(file, 'unit', undefined)
    const [unit] = files.dirty(0, 1)
    asked.length = 0
    const known = files.filesOf(unit?.id ?? 0)
    // Of a list, nothing is looked at but what it gives: no search without its bounds, and nothing sorted.
    const plan = asked.flatMap((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(1, 0))
    expect(plan.map(({ detail }) => String(detail)).filter((step) => /files|TEMP/.test(step))).toEqual([
      'SEARCH files USING INDEX files_unit (unit=? AND rowid>?)',
    ])
    expect(known.map(({ path }) => path)).toEqual(paths.toSorted())
    expect(known.find(({ path }) => path === paths[7])).toEqual({
      path: paths[7],
      size: 7,
      bytes: undefined,
    })
    database.close()
  })
})
