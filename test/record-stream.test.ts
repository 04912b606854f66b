/** What agents print, recorded on its way through the built program: passed on as it is, there after a kill, told apart from the stream. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { BIN, run } from './program.ts'

const roots: string[] = []
afterAll(() => {
  for (const root of roots) fs.rmSync(root, { recursive: true, force: true })
})

function home(): string {
  const root = fs.mkdtempSync(join(os.tmpdir(), 'hansard-record-'))
  roots.push(root)
  return root
}

const line = (value: object): string => `${JSON.stringify(value)}\n`
const INIT = line({ type: 'init', session_id: 'g1', model: 'gemini-2.5-pro' })
const CALL = line({ type: 'tool_use', tool_name: 'ls', tool_id: 'c1', parameters: {} })
const RESULT = line({
  type: 'result',
  status: 'success',
  stats: { input_tokens: 3, output_tokens: 2, total_tokens: 5, cached: 0 },
})

function journalOf(archive: string): string {
  const sessions = join(archive, 'sessions')
  const [id] = fs.existsSync(sessions) ? fs.readdirSync(sessions) : []
  const folder = join(sessions, id ?? '')
  const [name] = id === undefined ? [] : fs.readdirSync(folder)
  return name === undefined ? '' : fs.readFileSync(join(folder, name), 'utf8')
}

describe('record --from', () => {
  it('passes its input on, byte for byte, and says what it recorded beside it', async () => {
    const input = Buffer.concat([
      Buffer.from(INIT + CALL),
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from(`not json\r\n\n${RESULT.trimEnd()}`),
    ])
    const env = { HANSARD_HOME: home() }
    const args = ['record', '--from', 'gemini-stream-json', '--tee', '--json']
    const child = spawn(process.execPath, [BIN, ...args], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
    })
    const passed: Buffer[] = []
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => passed.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    for (let at = 0; at < input.length; at += 5) child.stdin.write(input.subarray(at, at + 5))
    child.stdin.end()
    const code = await new Promise((done) => child.on('close', done))
    expect(Buffer.concat(passed)).toEqual(input)
    expect(said).toContain('2 of 5 lines could not be read')
    const { sessions } = JSON.parse(said.trim().split('\n').at(-1) ?? '') as { sessions: object[] }
    expect(sessions).toMatchObject([
      { status: 'completed', totals: { toolCalls: 1, usage: { input: 3, output: 2 } } },
    ])
    expect(code).toBe(1)
  })

  it('goes on recording when whoever it passes the stream on to has gone away', async () => {
    const archive = home()
    const more = line({ type: 'message', role: 'user', content: 'x'.repeat(100_000) })
    const child = spawn(
      'sh',
      ['-c', `"${process.execPath}" "${BIN}" record --from gemini-stream-json --tee | head -c 10`],
      {
        env: { PATH: process.env['PATH'] ?? '', HANSARD_HOME: archive },
        stdio: ['pipe', 'ignore', 'ignore'],
      },
    )
    child.stdin.write(INIT)
    for (let at = 0; at < 20; at += 1) child.stdin.write(more)
    child.stdin.end(RESULT)
    await new Promise((done) => child.on('close', done))
    const { stdout } = await run(['list', '--json'], { env: { HANSARD_HOME: archive, HOME: archive } })
    expect(JSON.parse(stdout)).toMatchObject({ sessions: [{ status: 'completed', entries: 22 }] })
  })

  it('has what it had recorded when it was killed, and says that it was', async () => {
    const archive = home()
    const child = spawn(process.execPath, [BIN, 'record', '--from', 'gemini-stream-json', '--tee'], {
      env: { PATH: process.env['PATH'] ?? '', HANSARD_HOME: archive },
    })
    child.stdin.write(INIT + CALL + CALL)
    // Two calls are with the operating system once their lines can be read.
    while (journalOf(archive).split('"type":"tool-call"').length < 3)
      await new Promise((done) => setTimeout(done, 10))
    child.kill('SIGKILL')
    await new Promise((done) => child.on('close', done))
    const { stdout } = await run(['list', '--json'], { env: { HANSARD_HOME: archive, HOME: archive } })
    expect(JSON.parse(stdout)).toMatchObject({ sessions: [{ status: 'interrupted', toolCalls: 2 }] })
  })

  it('knows no other stream', async () => {
    expect(await run(['record', '--from', 'nope'])).toMatchObject({ code: 2 })
  })
})
