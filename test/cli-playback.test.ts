/** What `hansard replay` plays back: in a pipe, on a terminal with keys, while it is recorded, and as an asciicast. */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { record, type Recorder } from '../src/capture/record.ts'
import { createMachine, type Machine } from './machine.ts'
import { BIN, run, type Ran } from './program.ts'

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

const environment = (): Record<string, string> => ({
  HOME: machine.user,
  HANSARD_HOME: machine.home,
  TZ: 'UTC',
})
const hansard = (...args: readonly string[]): Promise<Ran> =>
  run(args, { env: environment(), cwd: machine.cwd })

const START = Date.UTC(2026, 0, 2, 3, 4, 5)

/** Said a minute after each other, but for the last, a second later. */
async function recorded(): Promise<string> {
  let now = START
  const session = await record({ home: machine.home, cwd: machine.cwd, agent: 'mine', now: () => now })
  session.user('first question')
  now += 60_000
  session.assistant('first answer')
  now += 60_000
  session.toolCall({ callId: 'c', name: 'Bash', input: { command: 'false' } })
  session.toolResult({ callId: 'c', error: 'exit 1', isError: true })
  now += 1000
  session.assistant('last answer')
  await session.end()
  return session.id
}

describe('in a pipe', () => {
  it('all of it is there at once, in order', async () => {
    const id = await recorded()
    const { stdout, code } = await hansard('replay', id)
    expect(code).toBe(0)
    const places = ['first question', 'first answer', 'exit 1', 'last answer'].map((text) =>
      stdout.indexOf(text),
    )
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(Math.min(...places)).toBeGreaterThanOrEqual(0)
  })

  it('it takes its time where a speed is given, scaled and shortened', async () => {
    const id = await recorded()
    const began = performance.now()
    await hansard('replay', id, '--speed', '2', '--idle', '1')
    // Two waits of a minute and one of a second, each a second at most, twice as fast.
    expect(performance.now() - began).toBeGreaterThan(1500)
  })

  it("devflow's views are there: a summary, what the assistant said, one turn", async () => {
    const id = await recorded()
    expect((await hansard('replay', id, '--mode', 'summary')).stdout).toMatch(/\[1\] user: first question/)
    const assistant = (await hansard('replay', id, '--mode', 'assistant')).stdout
    expect(assistant).toContain('last answer')
    expect(assistant).not.toContain('first question')
    expect((await hansard('replay', id, '--turn', '1')).stdout).not.toContain('last answer')
  })

  it('a speed that is none is refused, and a program is not answered at any', async () => {
    const id = await recorded()
    const refused = await hansard('replay', id, '--speed', 'fast')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('"fast" is no speed')
    expect((await hansard('replay', id, '--serve', '--speed', '2')).code).toBe(1)
  })

  it('what is recorded meanwhile follows, until the session ends', async () => {
    const session: Recorder = await record({ home: machine.home, cwd: machine.cwd, agent: 'mine' })
    session.user('asked before')
    await session.flush()
    const child = spawn(process.execPath, [BIN, 'replay', session.id, '--follow'], {
      env: { ...process.env, ...environment() },
      cwd: machine.cwd,
    })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
    const heard = async (text: string): Promise<void> => {
      const until = performance.now() + 30_000
      while (!said.includes(text)) {
        if (performance.now() > until) throw new Error(`${text} was not heard in ${said}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    try {
      await heard('asked before')
      session.assistant('answered meanwhile')
      await session.flush()
      await heard('answered meanwhile')
      await session.end()
      expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0)
      expect(said.match(/asked before/g)).toHaveLength(1)
    } finally {
      child.kill('SIGKILL')
    }
  })
})

/** As cli-terminal.test.ts: Debian's essential bsdutils has it. */
const hasScript = spawnSync('script', ['-qec', 'exit 3', '/dev/null']).status === 3

describe('on a terminal', () => {
  it('keys step through it, and q leaves the terminal as it was', async () => {
    expect(hasScript || process.platform !== 'linux').toBe(true)
    if (!hasScript) return
    const id = await recorded()
    const typed = `stty rows 30 cols 100; '${process.execPath}' '${BIN}' replay ${id} --idle 60; stty -a`
    const child = spawn('script', ['-qec', typed, '/dev/null'], {
      env: { ...process.env, ...environment(), TERM: 'xterm' },
      cwd: machine.cwd,
    })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
    const heard = async (text: string): Promise<void> => {
      const until = performance.now() + 30_000
      while (!said.includes(text)) {
        if (performance.now() > until) throw new Error(`${text} was not heard in ${said}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    await heard('first question')
    // The next comes in a minute, if nobody asks for it.
    expect(said).not.toContain('first answer')
    child.stdin.write('j')
    await heard('first answer')
    expect(said).not.toContain('exit 1')
    child.stdin.write('e')
    await heard('exit 1')
    child.stdin.write('q')
    await heard(' echo ')
    child.stdin.end()
  })
})

describe('as an asciicast', () => {
  it('it is version 3, in the time that it took, with markers', async () => {
    const id = await recorded()
    const file = join(machine.cwd, 's.cast')
    expect((await hansard('export', id, '--as', 'asciicast', '--out', file)).code).toBe(0)
    const [header, ...events] = fs
      .readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    expect(header).toMatchObject({ version: 3, term: { cols: 100, rows: 30 }, timestamp: START / 1000 })
    const all = events as [number, string, string][]
    expect(all.reduce((sum, [seconds]) => sum + seconds, 0)).toBeCloseTo(121, 3)
    expect(all.filter(([, code]) => code === 'm').map(([, , label]) => label)).toEqual([
      'prompt #0',
      'error #3',
    ])
    expect(all.at(-1)?.[1]).toBe('x')
    const { stdout } = await hansard('export', id, '--as', 'text', '--out', '-')
    expect(stdout).toContain('first question')
    expect(stdout).toContain('last answer')
  })
})
