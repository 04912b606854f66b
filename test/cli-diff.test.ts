/** What `hansard diff` says of two sessions, in one screen and as JSON. */
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { record } from '../src/capture/record.ts'
import type { SessionDiff } from '../src/replay/diff/diff.ts'
import { claudeLogs, createMachine, type Machine } from './machine.ts'
import { run, type Ran } from './program.ts'

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

const hansard = (...args: readonly string[]): Promise<Ran> =>
  run(args, { env: { HOME: machine.user, HANSARD_HOME: machine.home }, cwd: machine.cwd })

async function work(prompt: string, command: string, answer: string): Promise<string> {
  const session = await record({ home: machine.home, cwd: machine.cwd, agent: 'mine' })
  session.user(prompt)
  session.assistant('I look.')
  session.toolCall({ callId: `c${session.id}`, name: 'Bash', input: { command } })
  session.toolResult({ callId: `c${session.id}`, output: 'one\ntwo' })
  session.assistant(answer)
  await session.end()
  return session.id
}

describe('hansard diff', () => {
  it('says where two sessions part, and what each came to', async () => {
    const [a, b] = [await work('go', 'ls -a', 'done'), await work('go', 'ls -l', 'done')]
    const { stdout, code } = await hansard('diff', a, b)
    expect(code).toBe(0)
    expect(stdout).toContain('They part at a call of Bash that differs: A#2, B#2')
    expect(stdout).toContain('-   "command": "ls -a"')
    expect(stdout).toContain('+   "command": "ls -l"')
    expect(stdout).toMatch(/Turns +\d+ +\d+/)
    expect(stdout).toContain('1 step differs: 1 changed')
    expect((await hansard('diff', a, b, '--exit-code')).code).toBe(1)
  })

  it('says of the same that it is the same', async () => {
    const [a, b] = [await work('go', 'ls', 'done'), await work('go', 'ls', 'done')]
    const { stdout, code } = await hansard('diff', a, b, '--exit-code')
    expect(code).toBe(0)
    expect(stdout).toContain('The same was asked and done in both.')
  })

  it("has devflow's comparison, turn by turn", async () => {
    const [a, b] = [await work('go', 'ls', 'done'), await work('go', 'ls', 'all done')]
    const { stdout } = await hansard('diff', a, b, '--turns')
    expect(stdout).toMatch(/Run A: .* \(completed\)/)
    expect(stdout).toMatch(/Turns: \d+ vs \d+/)
    expect(stdout).toMatch(/Turn \d+: different \(4 vs 8 chars\)/)
  })

  it('is whole as JSON, each step with its citation and its words', async () => {
    const [a, b] = [await work('go', 'ls', 'done'), await work('go', 'ls', 'all done')]
    const { stdout } = await hansard('diff', a, b, '--json')
    const difference = JSON.parse(stdout) as SessionDiff
    expect(difference).toMatchObject({
      isSame: false,
      a: { id: a, agent: 'mine', status: 'completed', toolCalls: 1 },
      b: { id: b },
      first: { type: 'changed', what: 'answer', a: { text: 'done' }, b: { text: 'all done' } },
      tools: [{ name: 'Bash', a: { calls: 1, failed: 0 }, b: { calls: 1, failed: 0 } }],
    })
    expect(difference.first?.b?.citation).toMatch(new RegExp(`^${b}#\\d+$`))
  })

  it('shows nothing that would reach the terminal as a command', async () => {
    const [a, b] = [await work('go', 'ls', 'done'), await work('\x1b]0;owned\x07', '\x1b[2J', 'done')]
    const { stdout } = await hansard('diff', a, b, '--full', '--turns')
    expect(stdout.includes('\x1b')).toBe(false)
    expect(stdout.includes('\x07')).toBe(false)
  })

  it('says what is missing, and which of several sessions in a file', async () => {
    const id = await work('go', 'ls', 'done')
    const missing = await hansard('diff', id, 'ffffffff')
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain('ffffffff')
    const folder = join(machine.cwd, 'logs')
    fs.mkdirSync(folder)
    const sessions = [1, 2].map((n) => `aaaaaaaa-0000-4000-8000-00000000000${n}`)
    for (const session of sessions)
      fs.writeFileSync(join(folder, `${session}.jsonl`), claudeLogs(2, { session }))
    const several = await hansard('diff', id, 'logs')
    expect(several.code).toBe(1)
    expect(several.stderr).toContain('holds 2 sessions')
    const [one, two] = several.stderr.match(/[\da-f]{8}-[\da-f-]{27}/g) ?? []
    const chosen = await hansard('diff', `logs#${one}`, `logs#${two}`, '--json')
    expect(JSON.parse(chosen.stdout)).toMatchObject({ a: { id: one }, b: { id: two } })
  })
})
