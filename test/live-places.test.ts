/** Where live formats put their files, and who may read these: every format, live and after a crash. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { formats } from '../src/formats/index.ts'
import { openDevflow } from '../src/capture/devflow-runs.ts'
import { record } from '../src/capture/record.ts'
import { run } from './program.ts'

const library = join(import.meta.dirname, '../dist/src/index.js')
const WRITTEN = formats.filter(({ write }) => write !== undefined).map(({ id }) => id)

let folder: string
let env: Readonly<Record<string, string>>
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-places-'))
  for (const name of ['work', 'elsewhere']) fs.mkdirSync(join(folder, name))
  env = { HANSARD_HOME: join(folder, 'home') }
})

/** Records below `work` until it kills itself, or to the end. */
async function recordThere(options: object, end = "process.kill(process.pid, 'SIGKILL')"): Promise<void> {
  const program = `
    import { record } from ${JSON.stringify(library)}
    process.umask(0o022)
    const session = await record({ home: '../home', flow: 'build', step: 'impl', agentKey: 'coder',
      engine: 'claude', thread: 'thread-1', timeZone: 'UTC', onFailure() {}, ...${JSON.stringify(options)} })
    session.user('Fix it')
    session.toolResult({ callId: session.toolCall({ name: 'Bash', input: { command: 'ls' } }), output: 'a.ts' })
    session.assistant('Done.')
    ${end}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: join(folder, 'work'),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await new Promise((resolve) => child.on('exit', resolve))
}

function below(at: string): string[] {
  if (!fs.existsSync(at)) return []
  return fs.readdirSync(at, { withFileTypes: true }).flatMap((file) => {
    const path = join(at, file.name)
    return file.isDirectory() ? [path, ...below(path)] : [path]
  })
}

/** Modes of what is below: of files, and of folders. */
function modesBelow(at: string): { readonly files: readonly string[]; readonly folders: readonly string[] } {
  const stats = below(at).map((path) => fs.statSync(path))
  const modes = (some: readonly fs.Stats[]): string[] =>
    [...new Set(some.map(({ mode }) => (mode & 0o777).toString(8)))].sort()
  return {
    files: modes(stats.filter((stat) => stat.isFile())),
    folders: modes(stats.filter((stat) => stat.isDirectory())),
  }
}

const recover = async (): Promise<{ code: number | null; sessions: Recovered[]; stderr: string }> => {
  const { code, stdout, stderr } = await run(['recover', '--json'], { cwd: join(folder, 'elsewhere'), env })
  return { code, stderr, ...(JSON.parse(stdout) as { sessions: Recovered[] }) }
}

type Recovered = {
  readonly outcome: string
  readonly formats: readonly { error?: string; written: string[] }[]
}

describe.each(WRITTEN)('%s below a relative root', (format) => {
  it('is written where the recorder ran, into folders that are made, also by a recover from elsewhere', async () => {
    await recordThere({ formats: [format], roots: { [format]: './not/yet/there' } })
    const { code, sessions } = await recover()
    expect(code).toBe(0)
    expect(sessions).toMatchObject([{ outcome: 'recovered', formats: [{ format }] }])
    const written = sessions.flatMap((one) => one.formats.flatMap((rebuilt) => rebuilt.written))
    expect(written.length).toBeGreaterThan(0)
    const root = join(fs.realpathSync(folder), 'work/not/yet/there')
    expect(written.filter((path) => !path.startsWith(root))).toEqual([])
    expect(below(root)).toEqual(expect.arrayContaining(written))
    expect(below(join(folder, 'elsewhere'))).toEqual([])
    expect((await recover()).sessions).toMatchObject([{ outcome: 'whole' }])
  })
})

describe('a root', () => {
  it('is relative to the session’s working directory, where it has one of its own', async () => {
    const session = await record({
      home: join(folder, 'home'),
      cwd: join(folder, 'work'),
      formats: ['entire'],
      roots: { entire: 'mine' },
    })
    session.user('Fix it')
    await session.end()
    expect(below(join(folder, 'work/mine')).some((path) => path.endsWith('full.jsonl'))).toBe(true)
  })

  it('that cannot be made is named with its reason by each recover, until it can be', async () => {
    fs.writeFileSync(join(folder, 'work/taken'), 'a file')
    await recordThere({ formats: ['entire', 'swarm'], roots: { entire: 'taken' } }, 'await session.end()')
    for (let times = 0; times < 2; times += 1) {
      const { code, sessions } = await recover()
      expect(code).toBe(1)
      expect(sessions).toMatchObject([{ outcome: 'incomplete' }])
      expect(sessions[0]?.formats).toMatchObject([
        { format: 'entire', error: expect.stringContaining('taken') },
      ])
    }
    const { code, stdout, stderr } = await run(['recover'], { cwd: folder, env })
    expect([code, stdout]).toEqual([1, expect.stringContaining('incomplete')])
    expect(stdout).not.toContain('recovered')
    expect(stderr).toMatch(/entire cannot be written: .*taken/)
    fs.rmSync(join(folder, 'work/taken'))
    expect(await recover()).toMatchObject({ code: 0, sessions: [{ outcome: 'recovered' }] })
    expect(await recover()).toMatchObject({ code: 0, sessions: [{ outcome: 'whole' }] })
  })
})

describe('files of live formats', () => {
  it.each([
    ['their owner alone, unless something else is asked for', undefined, '600', '700'],
    ['whoever the system’s umask lets, where that is asked for', 'system', '644', '755'],
  ])('are for %s', async (_, umask, file, dir) => {
    const options = { formats: WRITTEN, ...(umask && { umask }) }
    await recordThere(options, 'await session.end()')
    expect(modesBelow(join(folder, 'work'))).toEqual({ files: [file], folders: [dir] })
    fs.rmSync(join(folder, 'work'), { recursive: true })
    fs.mkdirSync(join(folder, 'work'))
    await recordThere(options)
    fs.rmSync(join(folder, 'work'), { recursive: true })
    fs.mkdirSync(join(folder, 'work'))
    expect((await recover()).code).toBe(0)
    expect(modesBelow(join(folder, 'work'))).toEqual({ files: [file], folders: [dir] })
    // The archive is its owner's, whatever was asked for beside it.
    expect(modesBelow(join(folder, 'home/sessions'))).toEqual({ files: ['600'], folders: ['700'] })
  })

  it('of the runs store are, too, its archives and what comes back out of them included', async () => {
    const before = process.umask(0o022)
    try {
      const base = join(folder, 'work/.devflow')
      const store = openDevflow(base, { home: join(folder, 'home'), umask: 'system' })
      for (const id of ['2025-01-01-f-a', '2025-01-01-f-b']) {
        await store.startRun(id, { flowId: 'f' })
        store.recordTurn(id, { role: 'user', content: 'Fix it' })
        await store.endRun(id)
        await store.archive(id)
      }
      await store.restore('2025-01-01-f-a')
      expect(modesBelow(join(folder, 'work'))).toEqual({ files: ['644'], folders: ['755'] })
    } finally {
      process.umask(before)
    }
  })

  it('are refused for anybody else', async () => {
    const umask = 'world' as unknown as 'system'
    const refused = { code: 'invalid-argument', message: 'no such umask: "world"' }
    await expect(record({ home: join(folder, 'home'), umask })).rejects.toMatchObject(refused)
    expect(() => openDevflow(folder, { umask })).toThrow(expect.objectContaining(refused))
  })

  it('are for others on the command line, too', async () => {
    const args = ['record', '--format', 'devflow', '--umask', 'system', '--flow', 'f', '--run', 'r']
    const input = '{"role":"user","text":"Fix it"}\n'
    expect(await run(args, { cwd: join(folder, 'work'), env, input })).toMatchObject({ code: 0 })
    const mode = 0o666 & ~process.umask()
    expect(modesBelow(join(folder, 'work')).files).toEqual([mode.toString(8)])
  })
})
