/** What `recover` may do to the formats' files: make them whole under their own names, and lose nothing that only they still hold. */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { readThrough } from '../src/archive/facts.ts'
import { recoverSession, type Recovered } from '../src/archive/recover.ts'
import { record, type Recorder, type RecordOptions } from '../src/capture/record.ts'
import { startRun } from '../src/capture/run.ts'
import { nodeFiles, type Files } from '../src/journal/files.ts'

const library = join(import.meta.dirname, '../dist/src/index.js')
const FORMATS = ['devflow', 'weakincentives', 'leslie', 'entire', 'swarm']
/** Every entry in the same minute, and later than any real clock. */
const NOW = 1_800_000_000_000

let folder: string
beforeEach(() => {
  folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'hansard-recovery-')))
})

const home = (): string => join(folder, 'home')
const cwd = (): string => join(folder, 'work')
const options = (more: RecordOptions = {}): RecordOptions => ({
  home: home(),
  cwd: cwd(),
  flow: 'build',
  step: 'impl',
  agentKey: 'coder',
  engine: 'claude',
  thread: 't',
  formats: FORMATS,
  ...more,
})
const begin = (more: RecordOptions = {}): Promise<Recorder> =>
  record({ ...options(more), now: () => NOW, onFailure: () => {} })
const recover = (id: string): Promise<Recovered> => recoverSession(openArchive(home(), { write: true }), id)

/** Runs a script in another process, which kills itself unless it ends; gives what it printed: the session's id. */
function inProcess(script: string, more: RecordOptions = {}): string {
  const program = `
    import { record } from ${JSON.stringify(library)}
    const session = await record({ ...${JSON.stringify(options(more))}, now: () => ${NOW} })
    process.stdout.write(session.id)
    ${script}
    process.kill(process.pid, 'SIGKILL')`
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }).stdout
}

/** Path below the working directory, and content. */
function files(at = cwd()): Map<string, string> {
  const found = fs.readdirSync(at, { withFileTypes: true, recursive: true }).filter((one) => one.isFile())
  return new Map(
    found
      .map((one) => join(one.parentPath, one.name))
      .sort()
      .map((path) => [path.slice(at.length + 1), fs.readFileSync(path, 'utf8')]),
  )
}

const pathsOf = (end: string): string[] => [...files().keys()].filter((path) => path.endsWith(end))
const journals = (): string[] => [...files(home()).keys()].filter((path) => path.endsWith('.jsonl'))

/** A disk on which, after so many calls, nothing is done any more: as for a process that was killed. */
function dyingAfter(calls: number): Files {
  let left = calls
  const all = Object.entries(nodeFiles) as [string, (...args: never[]) => unknown][]
  const doors = all.map(([name, call]) => [
    name,
    (...args: never[]) => {
      left -= 1
      if (left < 0) throw new Error('dead')
      return call(...args)
    },
  ])
  return Object.fromEntries(doors) as Files
}

describe('files that hold what the journal has lost', () => {
  it('stay as they are when the session had ended', async () => {
    const session = await begin()
    for (let n = 0; n < 10; n += 1) session.user(`message ${n}`)
    await session.end()
    const before = files()
    const journal = join(home(), journals()[0] as string)
    const bytes = fs.readFileSync(journal)
    bytes[bytes.indexOf('message 5')]! ^= 1
    fs.writeFileSync(journal, bytes)
    expect(await recover(session.id)).toMatchObject({ outcome: 'recovered', entries: 9, formats: [] })
    expect(files()).toEqual(before)
  })

  it('stay as they are when the journal ends before they do, and the report says so', async () => {
    const id = inProcess(
      'for (let n = 0; n < 60; n += 1) { session.user(`q${n}`); session.assistant(`a${n}`) }; await session.end()',
    )
    const before = files()
    const journal = join(home(), journals()[0] as string)
    // As a full disk leaves it: the first lines, and no end.
    const lines = fs.readFileSync(journal, 'utf8').split('\n')
    fs.writeFileSync(journal, `${lines.slice(0, 40).join('\n')}\n`)
    const { formats, entries } = await recover(id)
    expect(entries).toBeLessThan(60)
    for (const [path, content] of before) {
      if (path.endsWith('.jsonl') || path.includes('transcript.json'))
        expect([path, files().get(path)]).toEqual([path, content])
    }
    expect(formats.map(({ error }) => error)).toEqual(FORMATS.map(() => undefined))
    for (const format of formats.filter((one) => one.format !== 'leslie')) {
      expect([format.format, format.kept[0]?.reason]).toEqual([
        format.format,
        'it holds what the journal does not',
      ])
    }
    // A run says the same in all its files.
    const [run] = pathsOf('/metadata.json')
    expect(JSON.parse(files().get(run as string) ?? '')).toMatchObject({
      status: 'completed',
      turnCount: 120,
    })
    expect((await recover(id)).outcome).toBe('whole')
    expect(pathsOf('.tmp')).toEqual([])
  })

  it('lose nothing but a line that was cut off, wherever it was', async () => {
    const id = inProcess(`session.user('one'); session.assistant('two')`, { formats: ['entire'] })
    await recover(id)
    const [full] = pathsOf('full.jsonl').map((path) => join(cwd(), path)) as [string]
    const whole = fs.readFileSync(full, 'utf8')
    const ends = (): string[] =>
      journals().filter((path) => fs.readFileSync(join(home(), path), 'utf8').includes(' recover"'))
    for (let cut = 0; cut <= whole.length; cut += 61) {
      fs.writeFileSync(full, whole.slice(0, cut))
      for (const path of ends()) fs.rmSync(join(home(), path))
      const [format] = (await recover(id)).formats
      expect([cut, format?.error, format?.kept]).toEqual([cut, undefined, []])
      expect(fs.readFileSync(full, 'utf8')).toBe(whole)
    }
  })
})

describe('names', () => {
  it('are those of the first time, though the files that were in the way are gone', async () => {
    const first = await begin({ runId: 'r' })
    first.user('same')
    first.assistant('A')
    await first.end()
    const theirs = files()
    const id = inProcess(
      `session.user('same'); session.assistant('B'); session.user('same'); session.user('next')`,
      {
        runId: 'r',
      },
    )
    const both = files()
    const added = [...both.keys()].filter((path) => !theirs.has(path))
    for (const path of theirs.keys())
      if (!path.includes('swarm/') && !path.endsWith('index.json')) fs.rmSync(join(cwd(), path))
    const { formats } = await recover(id)
    expect(formats.map(({ format, error, kept }) => [format, error, kept])).toEqual(
      FORMATS.map((format) => [format, undefined, []]),
    )
    for (const path of added) expect(files().has(path)).toBe(true)
    expect(
      pathsOf('.txt')
        .filter((path) => path.includes('.leslie'))
        .map((path) => path.replace(/.*\d{4}-/, '')),
    ).toEqual(['next.txt', 'same-2.txt', 'same-3.txt'])
    expect(pathsOf('TranscriptEntry.jsonl')).toHaveLength(1)
    expect(pathsOf('/transcript.json')).toEqual(['.devflow/runs/r-impl-2/transcript.json'])
  })

  it('are in the time zone of the recording', async () => {
    const id = inProcess(`for (const n of [1, 2, 3]) { session.user('q' + n); session.assistant('x') }`, {
      timeZone: 'Asia/Kolkata',
    })
    const before = pathsOf('.txt')
    await recover(id)
    const after = pathsOf('.txt').filter((path) => path.includes('.leslie'))
    expect(after).toHaveLength(3)
    expect(after).toEqual(expect.arrayContaining(before.filter((path) => path.includes('.leslie'))))
  })

  it('are the same when a format that failed is made whole at the end', async () => {
    const session = await begin({ timeZone: 'Asia/Kolkata' })
    session.user('first')
    session.user('second')
    fs.renameSync(join(cwd(), '.leslie'), join(folder, 'gone'))
    fs.writeFileSync(join(cwd(), '.leslie'), '')
    session.user('third')
    fs.rmSync(join(cwd(), '.leslie'))
    fs.renameSync(join(folder, 'gone'), join(cwd(), '.leslie'))
    await session.end()
    expect(pathsOf('.txt').filter((path) => path.includes('.leslie'))).toHaveLength(3)
  })
})

describe('recovering', () => {
  it('is begun again when it was killed: the end names what is behind until it is done', async () => {
    const id = inProcess(`session.user('one'); session.assistant('two')`)
    // A folder that cannot be written to stands for the death of the process: the end is there, the files are not.
    const blocked = join(cwd(), '.devflow')
    fs.renameSync(blocked, join(folder, 'aside'))
    fs.writeFileSync(blocked, '')
    expect((await recover(id)).formats.find(({ format }) => format === 'devflow')?.error).toMatch(
      /not a folder/,
    )
    fs.rmSync(blocked)
    fs.renameSync(join(folder, 'aside'), blocked)
    expect((await recover(id)).formats.map(({ format, error }) => [format, error])).toEqual([
      ['devflow', undefined],
    ])
    expect((await recover(id)).outcome).toBe('whole')
    const ends = journals().flatMap(
      (path) =>
        files(home())
          .get(path)
          ?.match(/"t":"end".*/g) ?? [],
    )
    expect(ends.join('\n')).toContain(`"behind":${JSON.stringify(FORMATS)}`)
    expect(await readThrough(openArchive(home()), id)).toMatchObject({ damage: 0, entries: 2 })
  })

  it('gives the same files wherever it was killed and begun again', async () => {
    const id = inProcess(
      `session.user('one'); session.toolCall({ name: 'Bash', input: {} }); session.user('two')`,
    )
    const killed = join(folder, 'killed')
    fs.mkdirSync(killed)
    for (const name of ['home', 'work'])
      fs.cpSync(join(folder, name), join(killed, name), { recursive: true })
    await recover(id)
    // Temporary files are those of this process, which lives.
    const ours = (): [string, string][] => [...files()].filter(([path]) => !path.endsWith('.tmp'))
    const whole = ours()
    let outcome = ''
    let restarted = 0
    for (let calls = 20; outcome !== 'done'; calls += 71) {
      for (const name of ['home', 'work']) {
        fs.rmSync(join(folder, name), { recursive: true })
        fs.cpSync(join(killed, name), join(folder, name), { recursive: true })
      }
      const dying = openArchive(home(), { write: true, files: dyingAfter(calls) })
      outcome = await recoverSession(dying, id).then(
        ({ formats }) => (formats.some(({ error }) => error !== undefined) ? 'died' : 'done'),
        () => 'died',
      )
      // A lock is broken when its holder is dead; this one only seems to be.
      for (const path of pathsOf('.lock')) fs.rmSync(join(cwd(), path))
      const again = await recover(id)
      // Before its end is written, the segment is one of a process that lives: this one.
      if (again.outcome === 'running') continue
      restarted += 1
      expect([calls, ours()]).toEqual([calls, whole])
      expect((await recover(id)).outcome).toBe('whole')
    }
    expect(restarted).toBeGreaterThan(5)
  })

  it('claims the files it creates before it does', async () => {
    const id = inProcess(`session.user('one')`)
    const { formats } = await recover(id)
    const claimed = [...files(home()).values()].join('\n')
    for (const { written } of formats) {
      for (const path of written) {
        if (!path.endsWith('index.json')) expect(claimed).toContain(path.slice(path.lastIndexOf('/') + 1))
      }
    }
    expect(claimed).toContain('/transcript.json"')
  })

  it('removes what a killed process was about to put in place, and no living one’s', async () => {
    const id = inProcess(`session.user('one')`)
    const [run] = pathsOf('/metadata.json').map((path) => join(cwd(), path, '..')) as [string]
    const dead = spawnSync(process.execPath, ['-e', 'console.log(process.pid)'], {
      encoding: 'utf8',
    }).stdout.trim()
    for (const at of [run, join(run, '..')]) {
      fs.writeFileSync(join(at, `.x.json.${dead}.abc123.tmp`), 'x')
      fs.writeFileSync(join(at, `.x.json.${process.ppid}.abc123.tmp`), 'x')
    }
    await recover(id)
    expect(pathsOf('.tmp').map((path) => path.includes(`.${process.ppid}.`))).toEqual([true, true])
  })

  it('makes an execution whole where another has set it aside', async () => {
    const id = inProcess(`session.user('A1'); session.toolCall({ name: 'Bash', input: {} })`, { runId: 'r' })
    const other = await begin({ runId: 'r' })
    other.user('B1')
    await recover(id)
    other.assistant('B2')
    await other.end()
    const [aside, now] = pathsOf('.jsonl').filter((path) => path.includes('/llm/'))
    expect(files().get(aside as string)).toMatch(/A1[\s\S]*Bash/)
    expect(files().get(now as string)).toMatch(/B1[\s\S]*B2/)
    const receipts = pathsOf('.json').filter((path) => path.includes('/receipts/'))
    expect(receipts.map((path) => JSON.parse(files().get(path) ?? '').status)).toEqual([
      'failed',
      'succeeded',
    ])
  })
})

describe('several at once', () => {
  it('start a run once, and lose no file and no line of the index', async () => {
    for (let round = 0; round < 2; round += 1) {
      fs.rmSync(cwd(), { recursive: true, force: true })
      const { step: _, ...run } = options({ runId: 'same' })
      const program = `
        import { record } from ${JSON.stringify(library)}
        while (Date.now() < Number(process.argv[2]));
        const options = { ...${JSON.stringify(run)}, now: () => ${NOW} }
        const attempt = async (more) => {
          const session = await record({ ...options, ...more })
          session.user('same question'); session.assistant('from ' + process.argv[1]); await session.end()
        }
        await attempt({}).then(() => console.log('started'), (error) => console.log(error.code))
        await attempt({ runId: 'own-' + process.argv[1] })`
      const at = String(Date.now() + 500)
      const said = await Promise.all(
        ['a', 'b'].map(
          (name) =>
            new Promise<string>((resolve) => {
              const child = spawn(process.execPath, ['--input-type=module', '-e', program, name, at])
              let text = ''
              child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
              child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
              child.on('close', () => resolve(text.trim()))
            }),
        ),
      )
      expect(said.sort()).toEqual(['run-already-exists', 'started'])
      expect(pathsOf('.txt').filter((path) => path.includes('.leslie'))).toHaveLength(3)
      const index = JSON.parse(files().get('.devflow/runs/index.json') ?? '')
      expect(index.runs.map((one: { runId: string }) => one.runId).sort()).toEqual(['own-a', 'own-b', 'same'])
    }
  })

  it('executes a step again under a number, and refuses a run that is there', async () => {
    const run = startRun({ ...options(), flow: 'build', now: () => NOW })
    for (let n = 0; n < 3; n += 1) await (await run.step({ step: 'impl', agentKey: 'coder' })).end()
    expect(fs.readdirSync(join(cwd(), '.devflow/runs')).filter((name) => name.startsWith('run-'))).toEqual(
      ['', '-2', '-3'].map((end) => `${run.id}-impl${end}`),
    )
    const { step: _, ...alone } = options({ runId: 'r' })
    await (await record(alone)).end()
    await expect(record(alone)).rejects.toMatchObject({ code: 'run-already-exists' })
  })
})

describe('links', () => {
  it('from the working directory down are not followed, whatever format', async () => {
    fs.mkdirSync(join(cwd(), 'swarm'), { recursive: true })
    fs.mkdirSync(join(folder, 'outside'))
    for (const name of ['.devflow', 'agent_transcripts', '.leslie', '.entire', 'swarm/runs'])
      fs.symlinkSync(join(folder, 'outside'), join(cwd(), name))
    const failures: string[] = []
    const session = await record({ ...options(), onFailure: ({ message }) => failures.push(message) })
    session.user('hi')
    await session.end()
    expect(fs.readdirSync(join(folder, 'outside'))).toEqual([])
    expect(failures).toHaveLength(FORMATS.length)
    await recover(session.id)
    expect(fs.readdirSync(join(folder, 'outside'))).toEqual([])
  })
})
