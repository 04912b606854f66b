/** Tar and zip files wherever they are met: an import takes what they hold, and nobody else takes them for a log. */
import fs from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { readAll } from '../../test/memory-files.ts'
import { PACKERS, toTar, toZip, toZstd } from '../../test/packages.ts'
import { allFormats as formats } from './formats.ts'
import { importInputs } from './import.ts'
import { openDetected } from './open-detected.ts'
import { packageKind } from './package-kind.ts'
import type { SyncReport } from './sync.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
const TWO = 'bbbbbbbb-0000-4000-8000-000000000002'
const THREE = 'cccccccc-0000-4000-8000-000000000003'
const CODEX = '01999999-0000-7000-8000-00000000000c'

const logs = {
  [`a/${ONE}.jsonl`]: claudeLogs(4, { session: ONE }),
  [`b/${TWO}.jsonl`]: claudeLogs(4, { session: TWO }),
}
const rollout = [
  {
    type: 'session_meta',
    payload: { id: CODEX, cwd: '/x', originator: 'codex_cli_rs', cli_version: '0.50.0' },
  },
  {
    type: 'response_item',
    payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
  },
]
  .map((record) => `${JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', ...record })}\n`)
  .join('')
const evaluation = JSON.stringify({
  version: 2,
  status: 'success',
  eval: { eval_id: 'e', run_id: 'r', task: 't', model: 'm' },
})
const sample = JSON.stringify({
  id: 1,
  epoch: 1,
  input: 'x',
  target: 'y',
  messages: [{ role: 'user', content: 'hi' }],
})
const evalFile = toZip({ 'samples/1_epoch_1.json': sample, 'header.json': evaluation })

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

function put(path: string, content: Buffer | string): string {
  const at = machine.write(path, '')
  fs.writeFileSync(at, content)
  return at
}

const take = (path: string): Promise<SyncReport> =>
  importInputs(machine.archive(), [{ path }], { env: {}, userHome: machine.user, cwd: machine.cwd })

const show = async (path: string, format?: string): Promise<readonly (string | undefined)[]> => {
  const { detected, open } = await openDetected(path, { formats, ...(format && { format }) })
  return (await readAll(detected.format, await open())).map(({ session }) => session.native?.sessionId)
}

const names = Object.keys(PACKERS) as (keyof typeof PACKERS)[]
const kindOf = (name: string): string => (name.includes('.tar') ? 'tar' : 'zip')

describe('an import of a folder', () => {
  it.each(names)(
    'takes %s in it as one that is named, beside its other files, and keeps no copy of it',
    async (name) => {
      put(`box/${THREE}.jsonl`, claudeLogs(2, { session: THREE }))
      const packed = put(`box/deep/${name}`, PACKERS[name](logs))
      const report = await take(join(machine.user, 'box'))
      expect(report).toMatchObject({
        sessions: 3,
        entries: 10,
        damage: 0,
        files: { seen: 3, new: 3 },
        problems: [],
      })
      const listed = await machine.list()
      for (const session of [ONE, TWO])
        expect(listed.find(({ native }) => native?.sessionId === session)?.totals).toMatchObject({
          entries: 4,
          calls: 2,
        })
      const again = await take(packed)
      expect(again).toMatchObject({ sessions: 0, files: { new: 0, unchanged: 2 } })
      expect(await machine.list()).toEqual(listed)
    },
  )

  it('takes the logs of Inspect in it, which are zip files, as each that is named', async () => {
    put('evals/a.eval', evalFile)
    put(
      'evals/b.eval',
      toZip({ 'samples/1_epoch_1.json': sample, 'header.json': evaluation.replace('"e"', '"f"') }),
    )
    const named = await take(join(machine.user, 'evals/a.eval'))
    expect(named.sessions).toBeGreaterThan(0)
    const report = await take(join(machine.user, 'evals'))
    expect(report).toMatchObject({ sessions: named.sessions, problems: [], files: { new: 2, unchanged: 2 } })
  })

  it('takes none that is excluded, and none of its own archive', async () => {
    put('box/private/logs.tar', toTar(logs))
    const options = { env: {}, userHome: machine.user, cwd: machine.cwd, exclude: ['private'] }
    const report = await importInputs(machine.archive(), [{ path: machine.base }], options)
    expect(report).toMatchObject({ sessions: 0, files: { seen: 0 } })
  })

  it('tells of one that is damaged, and takes in the rest', async () => {
    put('box/a.tar', toTar(logs).subarray(0, 1000))
    put('box/b.tar', toTar({ [`${THREE}.jsonl`]: claudeLogs(2, { session: THREE }) }))
    const report = await take(join(machine.user, 'box'))
    expect(report.problems).toMatchObject([{ count: 1, example: expect.stringContaining('a.tar') }])
    expect((await machine.list()).map(({ native }) => native?.sessionId)).toContain(THREE)
  })

  it('refuses one inside another by its name', async () => {
    put('box/outer.tar', toTar({ 'inner.tgz': gzipSync(toTar(logs)) }))
    const { sessions, problems } = await take(join(machine.user, 'box'))
    expect({ sessions, problems }).toMatchObject({
      sessions: 0,
      problems: [
        { cause: 'unsupported', example: expect.stringContaining('inner.tgz is a tar archive: unpack it') },
      ],
    })
  })
})

describe('everybody else', () => {
  it.each(names)(
    'refuses %s by its name: a sync of its folder or of itself, without what it takes for a failure',
    async (name) => {
      const path = put(`box/${name}`, PACKERS[name](logs))
      put('box/README.md', 'some words\n')
      put(`box/${THREE}.jsonl`, claudeLogs(2, { session: THREE }))
      const example = `${path} is a ${kindOf(name)} archive: hansard import ${path} takes in what it holds`
      const report = await machine.sync({ paths: [join(machine.user, 'box')] })
      expect(report).toMatchObject({ sessions: 1, entries: 2, damage: 0, files: { failed: 0 } })
      expect(await machine.list()).toMatchObject([{ native: { sessionId: THREE }, totals: { calls: 1 } }])
      // Where the folder is told to be Claude Code's, what is called otherwise is not looked at.
      const named = await machine.sync({ paths: [path] })
      expect([...report.problems, ...named.problems]).toContainEqual({
        cause: 'unsupported',
        count: 1,
        example,
      })
      expect(await machine.list()).toHaveLength(1)
    },
  )

  it.each(names)('refuses %s by its name: whoever shows or converts it, or its folder', async (name) => {
    const path = put(`box/${name}`, PACKERS[name]({ ...logs, 'c.jsonl': rollout }))
    const hint = `hansard import ${path} takes in what it holds`
    await expect(show(path)).rejects.toMatchObject({
      code: 'unknown-format',
      message: expect.stringContaining(`a ${kindOf(name)} archive`),
      hint: expect.stringContaining(hint),
    })
    await expect(show(join(machine.user, 'box'))).rejects.toMatchObject({ code: 'unknown-format' })
  })

  it.each(names.filter((name) => name !== 'logs.zip'))(
    'refuses %s also where a format is named',
    async (name) => {
      const path = put(`box/${name}`, PACKERS[name](logs))
      await expect(show(path, 'claude-code')).rejects.toMatchObject({ code: 'unknown-format' })
    },
  )

  it('shows a zip file of one format, Inspect’s logs among them, and of several those that are asked for', async () => {
    expect(await show(put('one.zip', toZip({ ...logs, 'README.md': 'some words\n' })))).toEqual([ONE, TWO])
    expect(await show(put('log.eval', evalFile))).not.toEqual([])
    const mixed = put('mixed.zip', toZip({ ...logs, 'c.jsonl': rollout }))
    expect(await show(mixed, 'claude-code')).toEqual([ONE, TWO])
    expect(await show(mixed, 'codex')).toEqual([CODEX])
  })

  it('shows the logs of a folder without those in a tar file beside them, of which it tells', async () => {
    const talk = (words: string): string =>
      Array.from(
        { length: 20 },
        (_, n) => `${JSON.stringify({ role: n % 2 ? 'assistant' : 'user', content: `${words} ${n}` })}\n`,
      ).join('')
    put('box/talk.jsonl', talk('mine'))
    put('box/other.tar', toTar({ 'a.jsonl': talk('theirs'), 'b.jsonl': talk('theirs') }))
    const { detected, open } = await openDetected(join(machine.user, 'box'), { formats })
    const source = await open()
    const read = await readAll(detected.format, source)
    expect(read).toHaveLength(1)
    expect(JSON.stringify(read)).not.toContain('theirs')
    expect(source.damage()).toMatchObject([{ file: 'other.tar', kind: 'missing' }])
  })
})

describe('a tar file', () => {
  it('is told by what no text has: a log that says the word is a log', async () => {
    const log = claudeLog(0, { session: ONE, text: 'x'.repeat(400) })
    const says = `${log.slice(0, 257)}ustar${log.slice(262)}`
    expect(packageKind(Buffer.from(says))).toBeUndefined()
    expect(packageKind(toTar(logs))).toBe('tar')
  })

  it('is told inside zstd also where its first block is longer than what is looked at', async () => {
    const packed = toZstd(toTar({ 'a.bin': Buffer.alloc(200_000, 'x'), ...logs }))
    expect(await take(put('long.tar.zst', packed))).toMatchObject({ sessions: 2, files: { new: 3 } })
  })
})

describe('a log inside zstd', () => {
  it('is told by its content also where its first block is longer than what is looked at', async () => {
    const log = claudeLog(0, { session: ONE, text: 'x'.repeat(200_000) }) + claudeLog(1, { session: ONE })
    expect(await show(put('long.jsonl.zst', toZstd(Buffer.from(log))))).toEqual([ONE])
  })
})
