/** The recorder inside real processes that die: what was acknowledged is there, and `recover` finishes the rest. */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { readFacts, readThrough } from '../src/archive/facts.ts'
import { recoverSession } from '../src/archive/recover.ts'

const library = join(import.meta.dirname, '../dist/src/index.js')
const FORMATS = ['devflow', 'weakincentives', 'leslie', 'entire', 'swarm']

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hansard-dying-'))
})

/** Runs an agent's script that has `session` and prints `ready`; then sends the signal. Gives how it ended. */
async function dying(
  script: string,
  signal: NodeJS.Signals | undefined,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const program = `
    import { record } from ${JSON.stringify(library)}
    const session = await record({ home: 'home', formats: ${JSON.stringify(FORMATS)}, flow: 'build', step: 'impl',
      agentKey: 'coder', engine: 'claude', thread: 'thread-1', timeZone: 'UTC' })
    ${script}
    process.stdout.write('ready')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  child.stdout.once('data', () => signal && child.kill(signal))
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })))
}

const archive = (): ReturnType<typeof openArchive> => openArchive(join(folder, 'home'))
const TALK = `session.user('Fix it'); const id = session.toolCall({ name: 'Bash', input: { command: 'ls' } });
  session.toolResult({ callId: id, output: 'a.ts' }); session.assistant('Done.');`

function filesBelow(at: string): string[] {
  return readdirSync(at, { withFileTypes: true }).flatMap((file) =>
    file.isDirectory() ? filesBelow(join(at, file.name)) : [join(at, file.name)],
  )
}

describe('a process that is killed', () => {
  it('leaves a session that reads as interrupted with every entry, and recover finishes its formats’ files', async () => {
    expect(await dying(TALK, 'SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' })
    const [id] = archive().ids() as [string]
    const before = await readThrough(archive(), id)
    expect(before).toMatchObject({ entries: 4, damage: 0, session: { status: 'interrupted' } })

    const recovered = await recoverSession(archive(), id)
    expect(recovered.outcome).toBe('recovered')
    expect(recovered.formats.map(({ format, error }) => [format, error])).toEqual(
      FORMATS.map((format) => [format, undefined]),
    )
    expect(await readFacts(archive(), id)).toMatchObject({
      session: { status: 'interrupted', totals: { entries: 4 } },
    })

    const files = filesBelow(folder).map((path) => path.slice(folder.length + 1))
    const find = (end: string): string =>
      readFileSync(join(folder, files.find((file) => file.endsWith(end)) as string), 'utf8')
    expect(JSON.parse(find('/transcript.json'))).toMatchObject({ metadata: { status: 'failed' } })
    expect(JSON.parse(find('impl-coder.json'))).toMatchObject({ status: 'failed', step_id: 'impl' })
    expect(find('impl-coder-claude.jsonl')).toContain('"tool_output": "a.ts"')
    expect(find('/context.md')).toContain('- **Bash**: ls')
    expect(find('/prompt.txt').trim()).toBe('Fix it')
    expect(find('-Fix-it.txt')).toContain('[Tool result] Bash\na.ts')

    // Recovering again finds nothing to do and changes nothing.
    const written = filesBelow(folder).map((path) => readFileSync(path, 'utf8'))
    expect((await recoverSession(archive(), id)).outcome).toBe('whole')
    expect(filesBelow(folder).map((path) => readFileSync(path, 'utf8'))).toEqual(written)
  })
})

describe.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('a process that is told to stop by %s', (signal) => {
  it('says the last word, writes its formats’ files, and dies of the signal', async () => {
    expect(await dying(TALK, signal)).toEqual({ code: null, signal })
    const [id] = archive().ids() as [string]
    expect(await readFacts(archive(), id)).toMatchObject({
      damage: 0,
      session: { status: 'interrupted', totals: { entries: 4 } },
    })
    expect((await recoverSession(archive(), id)).outcome).toBe('whole')
    expect(filesBelow(join(folder, '.leslie')).filter((path) => path.endsWith('.txt'))).toHaveLength(1)
  })
})

describe('two copies of the package in one process', () => {
  it('do not wait for each other when the process is told to stop', async () => {
    const copy = join(mkdtempSync(join(tmpdir(), 'hansard-copy-')), 'dist')
    cpSync(join(import.meta.dirname, '../dist/src'), copy, { recursive: true })
    const second = `const other = await import(${JSON.stringify(join(copy, 'index.js'))})
      await other.record({ home: 'home' }); session.user('Fix it')`
    expect(await dying(second, 'SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' })
    for (const id of archive().ids())
      expect((await readFacts(archive(), id)).session.status).toBe('interrupted')
  })
})

describe('a format that fell behind', () => {
  it('is made whole by recover when the process ended before it could be', async () => {
    const block = `
      const { rmSync, writeFileSync } = await import('node:fs')
      session.user('before'); rmSync('.entire', { recursive: true }); writeFileSync('.entire', 'in the way')
      session.user('meanwhile'); rmSync('.entire'); process.exit(5)`
    expect((await dying(block, undefined)).code).toBe(5)
    const [id] = archive().ids() as [string]
    const recovered = await recoverSession(archive(), id)
    expect(recovered.formats.map(({ format, error }) => [format, error])).toEqual([['entire', undefined]])
    const full = filesBelow(folder).find((path) => path.endsWith('full.jsonl')) as string
    expect(readFileSync(full, 'utf8')).toMatch(/before[\s\S]*meanwhile/)
    expect((await recoverSession(archive(), id)).outcome).toBe('whole')
  })
})

describe('a process that ends by itself', () => {
  it.each([
    ['returns without ending the session', 'process.exitCode = 3; setInterval = () => {};', 3],
    ['calls process.exit', `${TALK} process.exit(4)`, 4],
  ])('%s: the session is interrupted and whole, and the exit code is its own', async (_, script, code) => {
    expect((await dying(script, undefined)).code).toBe(code)
    const [id] = archive().ids() as [string]
    expect((await readFacts(archive(), id)).session.status).toBe('interrupted')
    expect((await recoverSession(archive(), id)).outcome).toBe('whole')
  })

  it('throws: the session is there, and the error is the program’s own', async () => {
    const { code } = await dying(`${TALK} throw new Error('mine')`, undefined)
    expect(code).toBe(1)
    const [id] = archive().ids() as [string]
    expect(await readThrough(archive(), id)).toMatchObject({ entries: 4, session: { status: 'interrupted' } })
  })

  it('keeps a signal handler of its own in charge', async () => {
    const { code } = await dying(
      `${TALK} process.on('SIGTERM', async () => { await session.end(); process.exit(7) })`,
      'SIGTERM',
    )
    expect(code).toBe(7)
    const [id] = archive().ids() as [string]
    expect((await readFacts(archive(), id)).session.status).toBe('completed')
  })
})
