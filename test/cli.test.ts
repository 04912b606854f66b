/** What the built program does: its commands on real files and a real archive, and its documents. */
import fs from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { run, temporaryFolder } from './program.ts'

const folder = temporaryFolder()
const env = { HANSARD_HOME: join(folder, 'archive') }
const session = join(folder, 'session.jsonl')

const LINES = [
  { role: 'system', text: 'Be brief.' },
  { role: 'user', text: 'Read the file.' },
  {
    role: 'assistant',
    text: 'I will.',
    model: 'claude-sonnet-4-5',
    usage: { input: 1200, output: 40 },
    at: '2025-01-15T09:15:35Z',
  },
  { type: 'tool-call', name: 'Read', input: { path: 'a.txt' }, callId: 'c1' },
  { type: 'tool-result', callId: 'c1', output: 'forty-two' },
  { role: 'assistant', text: 'It says forty-two.', source: 'subagent:helper' },
]
const input = LINES.map((line) => `${JSON.stringify(line)}\n`).join('')

/** A log as Claude Code writes it, for commands that take files. */
const LOG = [
  { type: 'user', message: { role: 'user', content: 'hello' }, uuid: 'u1', parentUuid: null },
  {
    type: 'assistant',
    message: {
      id: 'msg_1',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: 'hi there' }],
      usage: { input_tokens: 10, output_tokens: 5 },
    },
    uuid: 'u2',
    parentUuid: 'u1',
  },
].map((line) => ({
  ...line,
  sessionId: 's-1',
  cwd: '/p',
  version: '2.0.0',
  userType: 'external',
  isSidechain: false,
  timestamp: '2025-01-15T09:15:32.000Z',
}))

let id = ''

beforeAll(async () => {
  fs.writeFileSync(session, LOG.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const flags = ['--flow', 'build', '--run', 'run-1', '--step', 'impl', '--title', 'Answers', '--json']
  const { stdout, code } = await run(['record', '--format', 'entire', ...flags], { input, env, cwd: folder })
  expect(code).toBe(0)
  id = (JSON.parse(stdout) as { session: string }).session
})

describe('record', () => {
  it('keeps every line in the journal and writes the formats asked for', async () => {
    const { stdout } = await run(['show', id, '--json'], { env })
    const shown = JSON.parse(stdout)
    expect(shown.session).toMatchObject({
      id,
      title: 'Answers',
      status: 'completed',
      run: { flow: 'build', id: 'run-1' },
    })
    expect(shown.entries.map(({ role }: { role: string }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'assistant',
      'tool',
      'assistant',
    ])
    expect(shown.entries[2]).toMatchObject({
      at: '2025-01-15T09:15:35.000Z',
      usage: { input: 1200, output: 40 },
    })
    expect(shown.entries[5]).toMatchObject({ source: 'subagent:helper', sequence: 0 })
    expect(fs.readdirSync(join(folder, '.entire/metadata'))).toHaveLength(1)
  })

  it('reports a bad line by its number, and records the others', async () => {
    const lines = [
      '{"role":"user","text":"a"}',
      'no',
      '[]',
      '{"role":"king","text":"x"}',
      '{"type":"end","status":"failed","error":"e"}',
      '{"role":"user","text":"late"}',
    ]
    const ran = await run(['record', '--json'], { input: lines.join('\n'), env, cwd: folder })
    expect(ran.code).toBe(1)
    expect(JSON.parse(ran.stdout)).toMatchObject({
      status: 'failed',
      lines: 2,
      badLines: 4,
      totals: { entries: 1 },
    })
    for (const number of [2, 3, 4, 6]) expect(ran.stderr).toContain(`line ${number} is not recorded`)
  })

  it('names a role and a status that there are not, and what there is instead', async () => {
    const lines = [
      '{"role":"robot","text":"x"}',
      '{"type":"end","status":"weird"}',
      '{"role":"user","text":"a"}',
    ]
    const ran = await run(['record', '--json'], { input: lines.join('\n'), env, cwd: folder })
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain(
      'line 1 is not recorded: a message has a role: system, user, assistant, tool',
    )
    expect(ran.stderr).toContain('line 2 is not recorded: a session ends completed, failed or canceled')
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'completed', lines: 1, badLines: 2 })
  })

  it.each([
    ['nope', 'unknown-format'],
    ['cline', 'format-read-only'],
  ])(
    'takes the format %s for wrong usage, and names only those that can be written',
    async (format, code) => {
      for (const args of [
        ['record', '--format', format, '--json'],
        ['run', '--format', format, '--json', '--', process.execPath, '-e', ''],
        ['proxy', '--format', format, '--json'],
        ['serve', '--otlp', '--format', format, '--json'],
        ['convert', session, '--to', format, '--json'],
      ]) {
        const ran = await run(args, { input, env, cwd: folder })
        expect(ran.code, args.join(' ')).toBe(2)
        const { error } = JSON.parse(ran.stdout) as { error: { code: string; hint: string } }
        expect(error.code).toBe(code)
        expect(error.hint).toMatch(/\bdevflow, weakincentives, leslie, entire, swarm\b/)
        expect(error.hint).not.toMatch(/cline|raw|generic/)
      }
    },
  )

  it('says which lines were no UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"role":"user","text":"a'),
      Buffer.from([0xff]),
      Buffer.from('"}\n'),
    ])
    const ran = await run(['record', '--json'], { input: bytes, env, cwd: folder })
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('line 1 is no UTF-8') })
    expect(JSON.parse(ran.stdout)).toMatchObject({ lines: 1, badLines: 0 })
  })

  it('refuses ids that could leave the folder, before anything is written', async () => {
    for (const bad of ['../x', 'a/b', 'x'.repeat(300), '.hidden']) {
      const ran = await run(['record', '--run', bad, '--json'], { input, env, cwd: folder })
      expect(ran.code).toBe(1)
      expect(JSON.parse(ran.stdout).error.code).toBe('invalid-id')
    }
  })
})

describe('show', () => {
  it('is format_transcript as text', async () => {
    const { stdout, code } = await run(['show', session], { env })
    expect(code).toBe(0)
    expect(stdout).toBe('[09:15:32] 👤 USER\nhello\n\n[09:15:32] 🤖 ASSISTANT\nhi there\n')
  })

  it('takes the beginning of an id, and devflow’s modes', async () => {
    const summary = await run(['show', id.slice(0, 20), '--mode', 'summary'], { env })
    expect(summary.stdout).toContain('Tokens: 1,200 in / 40 out')
    expect(summary.stdout).toContain('  [4] assistant: (Read)\n')
    const turn = await run(['show', id, '--turn', '4'], { env })
    expect(turn.stdout).toContain('  Output: forty-two\n')
    expect(turn.stdout).not.toContain('[3]')
    const none = await run(['show', id, '--turn', '99'], { env })
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no turn 99') })
  })

  it('filters by source and role', async () => {
    const helper = await run(['show', id, '--source', 'subagent:helper'], { env })
    expect(helper.stdout).toMatch(/^\[subagent:helper\] \[.*\] 🤖 ASSISTANT\nIt says forty-two\.\n$/)
    const tools = await run(['show', id, '--role', 'tool', '--json'], { env })
    expect(JSON.parse(tools.stdout).entries).toHaveLength(1)
  })

  it('draws Markdown and a page', async () => {
    const md = await run(['show', id, '--as', 'md'], { env })
    expect(md.stdout).toContain('#### Tool Call: `Read`')
    const html = await run(['show', id, '--as', 'html'], { env })
    expect(html.stdout).toMatch(/^<!doctype html>[^]*<\/html>\n$/)
  })

  it('answers in JSON, also with an error, when JSON is asked for in either way', async () => {
    for (const flags of [['--json'], ['--as', 'json'], ['--as=json']]) {
      const ran = await run(['show', id, '--turn', '1', ...flags], { env })
      expect(ran).toMatchObject({ code: 1, stderr: '' })
      expect(JSON.parse(ran.stdout).error.code).toBe('invalid-argument')
    }
  })

  it('shows and converts a session whose facts are too large for a line', async () => {
    const title = `Long ${'t'.repeat(100_000)}`
    const recorded = await run(['record', '--title', title], { input, env, cwd: folder })
    const shown = await run(['show', recorded.stdout.trim(), '--json'], { env })
    expect(JSON.parse(shown.stdout).session.title).toBe(title)
    const args = ['convert', recorded.stdout.trim(), '--to', 'journal', '--out', temporaryFolder(), '--json']
    const converted = await run(args, { env })
    const [path = ''] = JSON.parse(converted.stdout).written
    expect(JSON.parse((await run(['show', path, '--json'], { env })).stdout).session.title).toBe(title)
  })

  it('asks which one when there are several', async () => {
    const many = temporaryFolder()
    for (const name of ['a', 'b']) {
      fs.writeFileSync(
        join(many, `${name}.jsonl`),
        fs.readFileSync(session, 'utf8').replaceAll('s-1', `s-${name}`),
      )
    }
    const asked = await run(['show', many, '--json'], { env })
    expect(asked.code).toBe(1)
    const { error } = JSON.parse(asked.stdout)
    expect(error).toMatchObject({ code: 'ambiguous-id', hint: expect.stringContaining('--session') })
    const all = await run(['show', many, '--all', '--json'], { env })
    expect(JSON.parse(all.stdout).sessions).toHaveLength(2)
    const page = await run(['show', many, '--all', '--as', 'html'], { env })
    expect(page.stdout.match(/<article>/g)).toHaveLength(2)
    expect(page.stdout.match(/<\/html>/g)).toHaveLength(1)
    const text = await run(['show', many, '--all'], { env })
    expect(text.stdout.match(/^── .* ──$/gm)).toHaveLength(2)
  })
})

describe('convert', () => {
  it('writes the format where its own program would look, and says what was lost and filled in', async () => {
    const out = temporaryFolder()
    const { stdout, code } = await run(['convert', session, '--to', 'devflow', '--out', out, '--json'], {
      env,
    })
    expect(code).toBe(0)
    const report = JSON.parse(stdout)
    expect(Object.keys(report)).toEqual(['written', 'unchanged', 'lost', 'filled'])
    expect(report.written.length).toBeGreaterThan(1)
    for (const path of report.written) expect(fs.existsSync(path)).toBe(true)
    for (const lost of report.lost)
      expect(lost).toEqual({ entry: expect.any(String), what: expect.any(String) })
    const again = await run(['show', out], { env })
    expect(again.stdout).toContain('🤖 ASSISTANT\nhi there\n')
  })

  it('says for people which entries lost something', async () => {
    const { stdout } = await run(['convert', session, '--to', 'leslie', '--out', temporaryFolder()], { env })
    expect(stdout).toMatch(/^written\n {2}\//)
    expect(stdout).toContain('lost: what the target cannot hold\n')
    expect(stdout).toMatch(/#\d/)
  })

  it('replaces nothing that holds something else, unless forced', async () => {
    const out = temporaryFolder()
    const args = ['convert', session, '--to', 'entire', '--out', out]
    const { written } = JSON.parse((await run([...args, '--json'], { env })).stdout) as { written: string[] }
    const full = written.find((path) => path.endsWith('full.jsonl')) as string
    const before = fs.readFileSync(full, 'utf8')
    fs.writeFileSync(full, 'mine')
    const refused = await run([...args, '--json'], { env })
    expect(refused.code).toBe(1)
    expect(fs.readFileSync(full, 'utf8')).toBe('mine')
    expect((await run([...args, '--force'], { env })).code).toBe(0)
    expect(fs.readFileSync(full, 'utf8')).toBe(before)
  })
})

describe('list, recover, clean', () => {
  it('lists sessions and runs with the promised names', async () => {
    const { stdout } = await run(['list', '--run', 'run-1', '--json'], { env })
    const { sessions, total } = JSON.parse(stdout)
    expect(total).toBe(1)
    expect(sessions[0]).toMatchObject({
      id,
      title: 'Answers',
      models: expect.any(Array),
      cwd: fs.realpathSync(folder),
      run: 'run-1',
      flow: 'build',
      step: 'impl',
      status: 'completed',
      entries: 6,
      toolCalls: 1,
      usage: { input: 1200, output: 40, quality: 'reported' },
      cost: { usd: expect.stringMatching(/^\d+\.\d{6}$/), unpriced: [] },
    })
    const runs = JSON.parse((await run(['list', '--runs', '--json'], { env })).stdout)
    expect(runs).toMatchObject({
      runs: [{ id: 'run-1', sessions: [id], steps: ['impl'], status: 'completed' }],
      total: 1,
    })
    const failed = JSON.parse((await run(['list', '--status', 'canceled', '--json'], { env })).stdout)
    expect(failed).toEqual({ sessions: [], total: 0 })
  })

  it('recovers a journal that was cut off, and shows what is left of it before', async () => {
    const home = join(temporaryFolder(), 'archive')
    const own = { HANSARD_HOME: home }
    const { stdout } = await run(['record'], { input, env: own, cwd: folder })
    const journals = join(home, 'sessions', stdout.trim())
    const [journal] = fs.readdirSync(journals)
    const path = join(journals, journal as string)
    const bytes = fs.readFileSync(path)
    fs.writeFileSync(path, bytes.subarray(0, bytes.lastIndexOf('"t":"end"') - 40))
    const shown = await run(['show', stdout.trim(), '--json'], { env: own })
    expect(JSON.parse(shown.stdout).session.status).toBe('interrupted')
    const recovered = await run(['recover', '--json'], { env: own })
    expect(JSON.parse(recovered.stdout).sessions).toMatchObject([
      { outcome: 'recovered', status: 'interrupted' },
    ])
    const again = await run(['recover', '--json'], { env: own })
    expect(JSON.parse(again.stdout).sessions).toMatchObject([{ outcome: 'whole' }])
  })

  it('deletes nothing without --delete, and then leaves a tombstone', async () => {
    const own = { HANSARD_HOME: join(temporaryFolder(), 'archive') }
    const big = JSON.stringify({ role: 'user', text: 'x'.repeat(200_000) })
    const { stdout } = await run(['record'], { input: `${big}\n`, env: own, cwd: folder })
    const gone = stdout.trim()
    const dry = await run(['clean', '--older-than', '0h', '--json'], { env: own })
    expect(JSON.parse(dry.stdout)).toMatchObject({ sessions: [{ id: gone }], deleted: false })
    expect(JSON.parse((await run(['list', '--json'], { env: own })).stdout).total).toBe(1)
    expect(JSON.parse((await run(['clean', '--json'], { env: own })).stdout).sessions).toEqual([])
    const real = await run(['clean', '--older-than', '0h', '--delete', '--json'], { env: own })
    expect(JSON.parse(real.stdout)).toMatchObject({ sessions: [{ id: gone }], deleted: true })
    expect(JSON.parse((await run(['list', '--json'], { env: own })).stdout).total).toBe(0)
    expect(fs.readFileSync(join(own.HANSARD_HOME, 'tombstones.jsonl'), 'utf8')).toContain(gone)
  })
})

describe('settings', () => {
  it("come from flags, then the environment, then the user's own hansard.config.json", async () => {
    const cwd = temporaryFolder()
    const own = join(cwd, '.hansard')
    fs.mkdirSync(own)
    const total = async (
      args: readonly string[],
      given: Readonly<Record<string, string>>,
    ): Promise<unknown> => {
      const { stdout } = await run(['list', '--json', ...args], { cwd, env: { HOME: cwd, ...given } })
      return JSON.parse(stdout).total ?? JSON.parse(stdout).error
    }
    fs.writeFileSync(join(own, 'hansard.config.json'), JSON.stringify({ home: env.HANSARD_HOME }))
    expect(await total([], {})).toBeGreaterThan(0)
    expect(await total([], { HANSARD_HOME: join(cwd, 'none') })).toBe(0)
    expect(await total(['--home', env.HANSARD_HOME], { HANSARD_HOME: join(cwd, 'none') })).toBeGreaterThan(0)
    fs.writeFileSync(join(cwd, 'hansard.config.json'), '{"hme":"x"}')
    expect(await total([], {})).toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining('hme'),
    })
    fs.writeFileSync(join(cwd, 'hansard.config.json'), '{')
    expect(await total([], {})).toMatchObject({ code: 'invalid-argument' })
    expect((await run(['list'], { cwd, env: {} })).code).toBe(2)
    // Whoever wrote the folder may have written these, too.
    fs.writeFileSync(join(cwd, 'hansard.config.json'), `{}${' '.repeat(5e6)}`)
    expect(await total([], {})).toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining('too large'),
    })
  })
})

describe('the documents', () => {
  it('describe every command and every option of its help', async () => {
    const page = fs.readFileSync(resolve(import.meta.dirname, '../docs/cli.md'), 'utf8')
    const { stdout } = await run(['--help'])
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) (?:\[|<)/gm)].map(([, name]) => name as string)
    expect(commands).toEqual(
      expect.arrayContaining(['show', 'convert', 'formats', 'list', 'record', 'recover', 'clean']),
    )
    for (const command of commands.filter((name) => name !== 'help')) {
      expect(page).toContain(`## hansard ${command}`)
      const section = page.split(`## hansard ${command}`)[1]?.split('\n## ')[0] ?? ''
      const help = await run([command, '--help'])
      for (const [, flag] of help.stdout.matchAll(/^ {2}(--[a-z-]+)/gm)) {
        // Those that every command takes are described once.
        const where = flag === '--no-color' ? page : section
        if (flag !== '--help') expect(where, `${command} ${flag}`).toContain(flag)
      }
    }
  })
})
