/** Units of so many files that their lists lie on disk: read as any other is. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { claudeLog } from '../../test/machine.ts'
import { openArchive } from '../archive/archive.ts'
import { openKept } from '../archive/kept.ts'
import { claudeCode } from '../formats/claude-code.ts'
import { cursor } from '../formats/cursor.ts'
import type { Format, ReadItem } from '../formats/format.ts'
import { opencode } from '../formats/opencode.ts'
import { openDatabase } from '../sqlite/driver.ts'
import type { Source } from '../transcript/source.ts'
import { isMade } from '../transcript/made-list.ts'
import { createFileLists, type FileLists } from './file-lists.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { openFiles } from './open-files.ts'
import { openStateFiles } from './state-files.ts'
import { SCHEMA } from './state-schema.ts'
import { tellFormat } from './tell-format.ts'
import { openUnitFiles, pathsIn } from './unit-files.ts'
import { keptSource } from './versions.ts'

const base = fs.mkdtempSync(join(tmpdir(), 'hansard-long-'))
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

const SESSION = '11111111-1111-4111-8111-111111111111'

function claudeFiles(): Record<string, string> {
  const below = `p/${SESSION}`
  const agent = (id: string): string =>
    claudeLog(3, { session: SESSION, more: { isSidechain: true, agentId: id } })
  const files: Record<string, string> = {
    [`${below}.jsonl`]: claudeLog(0, { session: SESSION }) + claudeLog(1, { session: SESSION }),
    [`${below}/tool-results/a.txt`]: 'what a tool returned',
    [`${below}/subagents/journal.jsonl`]: '{"type":"started","key":"k"}\n',
    [`${below}/subagents/agent-gone.meta.json`]: '{"agentType":"left"}',
    [`${below}/subagents/other/agent-7.jsonl`]: agent('7').replaceAll('"uuid":"', '"uuid":"again-'),
  }
  for (let n = 0; n < 20; n += 1) files[`${below}/subagents/agent-${n}.jsonl`] = agent(`${n}`)
  for (let n = 0; n < 20; n += 3) files[`${below}/subagents/agent-${n}.meta.json`] = `{"agentType":"t${n}"}`
  return files
}

function opencodeFiles(): Record<string, string> {
  const time = '"time":{"created":1770000000000}'
  const files: Record<string, string> = { 'storage/todo/ses_1.json': '[]' }
  for (const session of ['ses_1', 'ses_2'])
    files[`storage/session/p/${session}.json`] =
      `{"id":"${session}","title":"t","version":"1.0.0","directory":"/x",${time}}`
  for (let n = 0; n < 30; n += 1) {
    const [id, session] = [`msg_${n}`, `ses_${n % 4}`]
    if (n % 7 !== 0)
      files[`storage/message/${session}/${id}.json`] =
        `{"id":"${id}","sessionID":"${session}","role":"user",${time}}`
    for (const part of [1, 2])
      files[`storage/part/${part === 1 ? '' : `${session}/`}${id}/prt_${n}_${part}.json`] =
        `{"id":"prt_${n}_${part}","messageID":"${id}","sessionID":"${session}","type":"text","text":"hello ${n}"}`
  }
  return files
}

function cursorFiles(): Record<string, string> {
  const id = (n: number): string => SESSION.replace(/^1{8}/, String(n).padStart(8, '0'))
  const line = (text: string): string =>
    `{"role":"user","message":{"content":[{"type":"text","text":"${text}"}]}}\n`
  const above = `p/agent-transcripts/${id(0)}`
  const files: Record<string, string> = { [`${above}/${id(0)}.jsonl`]: line('begin') }
  for (let n = 1; n < 20; n += 1) files[`${above}/subagents/${id(n)}.jsonl`] = line(`look at ${n}`)
  return files
}

const UNITS: readonly [Format, Record<string, string>][] = [
  [claudeCode, claudeFiles()],
  [opencode, opencodeFiles()],
  [cursor, cursorFiles()],
]

async function itemsOf(format: Format, source: Source): Promise<readonly ReadItem[]> {
  const all: ReadItem[] = []
  for await (const items of format.read(oneAtATime({ damage: () => [], ...source }, async () => {})))
    all.push(...items)
  return all
}

it.each(UNITS)('say the same, where they lie and as they are kept: %#', async (format, files) => {
  const root = join(base, format.id)
  const place = openKept(openArchive(join(base, 'archive'))).place(format.id, root)
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true })
    fs.writeFileSync(join(root, path), content)
    await place.keep(path, { file: join(root, path) })
  }
  const paths = Object.keys(files).toSorted()
  const ways: readonly ((lists?: FileLists) => Promise<Source>)[] = [
    (lists) => openFiles(root, [...paths, 'gone.jsonl'].toSorted(), lists),
    async (lists) => keptSource(place, [...paths, 'gone.jsonl'].toSorted(), new Map(), lists),
  ]
  for (const open of ways) {
    const lists = createFileLists(2)
    try {
      const [held, long] = [await open(), await open(lists)]
      expect([isMade(await held.list()), isMade(await long.list())]).toEqual([false, true])
      expect((await long.list()).map(({ path }) => path)).toEqual(paths)
      const items = await itemsOf(format, held)
      expect(items.filter(({ type }) => type === 'entry').length).toBeGreaterThanOrEqual(20)
      expect(await itemsOf(format, long)).toEqual(items)
      expect((await tellFormat(long))?.id).toBe(format.id)
    } finally {
      lists.close()
    }
  }
})

it('are known by all their files, sorted, to whoever is given the list', async () => {
  const database = await openDatabase(':memory:')
  database.exec(SCHEMA)
  const files = openStateFiles(database)
  const place = files.place('claude-code', base)
  const paths = Array.from({ length: 2500 }, (_, n) => `p/${(n * 7919) % 2500}/\ud83d\ude00${n}.jsonl`)
  files.look(
    place,
    paths.map((path, n) => ({ path, stamp: 's', size: n })),
    true,
  )
  for (const [n, file] of files.pending(0, paths.length).entries())
    files.taken(file, 'unit', n % 2 === 0 ? undefined : { bytes: n, tail: '' })
  const unit = files.dirty(0, 1)[0]?.id ?? 0
  const [held, long] = [await openUnitFiles(files, unit), await openUnitFiles(files, unit, 10)]
  expect(held.listed).toBeUndefined()
  expect(held.own).toEqual(files.filesOf(unit))
  expect([...long.own]).toEqual(held.own)
  expect(long.listed && [...pathsIn(long.listed)]).toEqual(paths.toSorted())
  long.close()
  database.close()
})
