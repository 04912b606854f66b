/** A format that the user names wins over what content tells, now and whenever what is kept is read again. */
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { toTar, toZip } from '../../test/packages.ts'
import { importInputs, type ImportInput } from './import.ts'
import { rebuild, type SyncReport } from './sync.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
/** Words that nobody's content is told by. */
const notes = 'first line\nsecond line\n'
const rollout = (id: string): string =>
  [
    // Without what tells it to be Codex's.
    { type: 'something', payload: { id } },
    ...['go', 'on'].map((text) => ({
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    })),
  ]
    .map((record) => `${JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', ...record })}\n`)
    .join('')

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

const take = (input: ImportInput, format?: string): Promise<SyncReport> =>
  importInputs(machine.archive(), [input], {
    env: {},
    userHome: machine.user,
    cwd: machine.cwd,
    ...(format !== undefined && { format }),
  })

function put(path: string, content: Buffer | string): string {
  const at = machine.write(path, '')
  fs.writeFileSync(at, content)
  return at
}

const summary = async (): Promise<unknown> =>
  (await machine.list()).map(({ id, agent, totals }) => ({ id, agent, entries: totals?.entries }))

describe('an import with --format', () => {
  it.each([
    ['a file', () => ({ path: put('box/notes.txt', notes) })],
    ['a folder', () => ({ path: join(put('box/notes.txt', notes), '..') })],
    ['a tar file', () => ({ path: put('box.tar', toTar({ 'deep/notes.txt': notes })) })],
    ['a zip file', () => ({ path: put('box.zip', toZip({ 'deep/notes.txt': notes })) })],
    [
      'standard input',
      () => ({
        chunks: async function* () {
          yield Buffer.from(notes)
        },
      }),
    ],
  ] as const)('reads %s so, and again so when the state is built again', async (_, toInput) => {
    const report = await take(toInput(), 'raw')
    expect(report).toMatchObject({ sessions: 1, entries: 2, problems: [], files: { new: 1 } })
    const listed = await summary()
    expect(listed).toHaveLength(1)
    await rebuild(machine.archive())
    expect(await summary()).toEqual(listed)
    expect(await take(toInput(), 'raw')).toMatchObject({ sessions: 0, files: { new: 0, unchanged: 1 } })
  })

  it('takes the place of what content told, of a file that was taken in before and is unchanged', async () => {
    const path = put('box/log.jsonl', claudeLogs(4, { session: ONE }))
    await take({ path })
    expect(await machine.list()).toMatchObject([{ native: { sessionId: ONE } }])
    await take({ path }, 'raw')
    const listed = await machine.list()
    expect(listed).toHaveLength(1)
    expect(listed[0]?.native).toBeUndefined()
    expect(listed[0]?.totals).toMatchObject({ entries: 4 })
    await take({ path }, 'claude-code')
    expect(await machine.list()).toMatchObject([{ native: { sessionId: ONE } }])
  })

  it('holds for a later sync of the same files, grown or rewritten', async () => {
    const path = put('box/notes.txt', notes)
    await take({ path }, 'raw')
    fs.appendFileSync(path, 'third line\n')
    expect(await machine.sync({ paths: [path] })).toMatchObject({ sessions: 1, problems: [] })
    expect(await machine.list()).toMatchObject([{ totals: { entries: 3 } }])
    fs.writeFileSync(path, 'another beginning\nand end\n')
    expect(await machine.sync({ paths: [path] })).toMatchObject({ files: { rewritten: 1 }, problems: [] })
    expect(await machine.list()).toHaveLength(1)
  })

  it('of a folder is about the files that are called like the format’s, where there are any', async () => {
    put('box/rollout-2026-01-01T00-00-00-x.jsonl', rollout('x'))
    put('box/README.md', 'some words\n')
    const report = await take({ path: join(machine.user, 'box') }, 'codex')
    expect(report).toMatchObject({ sessions: 1, damage: 0, files: { new: 1 }, problems: [] })
    const packed = put(
      'box.zip',
      toZip({ 'rollout-2026-01-01T00-00-00-y.jsonl': rollout('y'), 'README.md': 'words\n' }),
    )
    expect(await take({ path: packed }, 'codex')).toMatchObject({
      sessions: 1,
      damage: 0,
      problems: [{ cause: 'unknown-format', count: 1, example: expect.stringContaining('README.md') }],
    })
  })

  it('refuses a journal, which is of another archive', async () => {
    await expect(take({ path: put('a.jsonl', '{}\n') }, 'journal')).rejects.toMatchObject({
      code: 'invalid-argument',
    })
  })
})
