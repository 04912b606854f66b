import fs from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import * as rollout from './codex-lines.ts'
import { claudeLog, claudeLogs } from './machine.ts'
import { run, temporaryFolder } from './program.ts'

const folder = temporaryFolder()
const home = join(folder, 'archive')
const env = { HANSARD_HOME: home, HOME: folder }

const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001'
const HOSTILE = 'bbbbbbbb-0000-4000-8000-000000000002'
const FORK = 'cccccccc-0000-4000-8000-000000000003'
/** A terminal's escape, a right-to-left override, a line's end, and what JavaScript and SQL might stumble on. */
const NAMES = [
  '__proto__',
  'constructor',
  '\u001b[31mred',
  '\u202Egnp.exe',
  "'; DROP TABLE calls; --",
  'a\nb',
]

beforeAll(async () => {
  const projects = join(folder, '.claude/projects/-p')
  fs.mkdirSync(projects, { recursive: true })
  const write = (session: string, text: string): void =>
    fs.writeFileSync(join(projects, `${session}.jsonl`), text)
  write(SESSION, claudeLogs(10, { session: SESSION, cwd: '/p/one' }))
  const fork = claudeLogs(10, { session: SESSION }).replaceAll(
    `"sessionId":"${SESSION}"`,
    `"sessionId":"${FORK}"`,
  )
  write(FORK, fork + claudeLog(61, { session: FORK }))
  const lines = NAMES.map((name, n) =>
    claudeLog(2 * n + 1, { session: HOSTILE, cwd: name }).replace(
      '"claude-sonnet-4-5"',
      JSON.stringify(name),
    ),
  )
  write(HOSTILE, lines.join(''))
  const now = new Date().toISOString()
  const line = {
    role: 'assistant',
    text: 'hi',
    model: 'claude-opus-5',
    usage: { input: 1_000_000, output: 0 },
    at: now,
  }
  const flags = ['--flow', 'build', '--step', 'impl', '--run', 'run-1']
  const recorded = await run(['record', ...flags], { env, cwd: folder, input: `${JSON.stringify(line)}\n` })
  expect(recorded.code).toBe(0)
  expect((await run(['sync'], { env, cwd: folder })).code).toBe(0)
})

async function cost(...args: string[]) {
  const ran = await run(['cost', ...args, '--json'], { env, cwd: folder })
  return { ...ran, document: JSON.parse(ran.stdout) }
}

describe('hansard cost', () => {
  it('has the promised names, and says what the figure is', async () => {
    const { document } = await cost()
    expect(document).toMatchObject({ by: 'day', basis: 'api-equivalent', prices: 'listed' })
    // Ten tokens in and five out for each; six of them have a price.
    expect(document.rows[0]).toEqual({
      key: '2025-10-09',
      calls: 12,
      usage: { input: 120, output: 60, quality: expect.any(String) },
      cost: { usd: '0.000630', unpriced: [...NAMES].sort() },
    })
    expect(document.total).toMatchObject({ calls: 13, cost: { usd: '5.000630' } })
    const { stdout } = await run(['cost'], { env, cwd: folder })
    expect(stdout).toMatch(/^US dollars at API list prices; what a subscription covered/)
    expect(stdout).toMatch(/^total +13 .* ≥ \$5\.00$/m)
  })

  it('reads all logs anew when it is to, with the same answer, and needs no archive for it', async () => {
    for (const by of ['day', 'model', 'session', 'project', 'tool'])
      expect((await cost('--by', by, '--no-index')).document).toEqual((await cost('--by', by)).document)
    const elsewhere = join(folder, 'not-there')
    const ran = await run(['cost', '--no-index', '--json'], {
      env: { ...env, HANSARD_HOME: elsewhere },
      cwd: folder,
    })
    // All but what was recorded in the archive.
    expect(JSON.parse(ran.stdout).total).toMatchObject({ calls: 12, cost: { usd: '0.000630' } })
    expect(fs.existsSync(elsewhere)).toBe(false)
  })

  it('groups by the facts of sessions', async () => {
    const keys = async (by: string) =>
      (await cost('--by', by)).document.rows.map(({ key }: { key: string }) => key)
    expect(await keys('flow')).toEqual(['build', '(none)'])
    expect(await keys('step')).toEqual(['build/impl', '(none)'])
    expect(await keys('run')).toEqual(['run-1', '(none)'])
    expect(await keys('project')).toContain('/p/one')
    expect(await keys('agent')).toContain('claude-code')
  })

  it('takes names as they are, and sends none to a terminal', async () => {
    const { document } = await cost('--by', 'model')
    const models = document.rows.map(({ key }: { key: string }) => key)
    for (const name of NAMES) expect(models).toContain(name)
    for (const by of ['model', 'project', 'session']) {
      const { stdout, stderr, code } = await run(['cost', '--by', by], { env, cwd: folder })
      expect([code, hasControls(stdout + stderr)]).toEqual([0, false])
      expect(stdout.split('\n').filter((line) => line.startsWith('total'))).toHaveLength(1)
    }
  })

  it('ends with 1 over a budget, of the current period, or of those within bounds', async () => {
    const code = async (...args: string[]): Promise<number | null> => (await cost(...args)).code
    expect(await code('--budget', '4.999999/month')).toBe(1)
    // Exactly the budget is not over it.
    expect(await code('--budget', '5/month')).toBe(0)
    expect(await code('--budget', '0.0001/day', '--until', '2025-12-31')).toBe(1)
    expect(await code('--budget', '0.01/day', '--until', '2025-12-31')).toBe(0)
    const { document } = await cost('--budget', '1/day', '--by', 'model')
    expect(document.budget).toMatchObject({
      usd: '1.000000',
      per: 'day',
      isOver: true,
      periods: [{ usd: '5.000000' }],
    })
  })

  it('refuses a budget or a time that is none, as wrong usage', async () => {
    for (const args of [
      ['--budget', '50'],
      ['--budget', '-1/day'],
      ['--budget', '1/year'],
      ['--since', 'soon'],
      ['--until', ''],
    ]) {
      const { code, document } = await cost(...args)
      expect([args, code, document.error?.code]).toEqual([args, 2, 'invalid-argument'])
    }
  })

  it('takes days where the machine is', async () => {
    const days = async (TZ: string): Promise<string[]> => {
      const { stdout } = await run(['cost', '--until', '2025-12-31', '--json'], {
        env: { ...env, TZ },
        cwd: folder,
      })
      return JSON.parse(stdout).rows.map(({ key }: { key: string }) => key)
    }
    // 2025-10-09T08:53:20Z.
    expect([await days('UTC'), await days('Pacific/Pago_Pago')]).toEqual([['2025-10-09'], ['2025-10-08']])
  })

  it('says nothing was billed in an archive with nothing in it', async () => {
    const ran = await run(['cost', '--home', join(folder, 'none'), '--json'], { env, cwd: folder })
    expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([
      0,
      { rows: [], total: { calls: 0, cost: { usd: null } } },
    ])
    expect(fs.existsSync(join(folder, 'none'))).toBe(false)
  })
})

describe('hansard cost explain', () => {
  it('shows products that add up to the bill, and who pays for the rest', async () => {
    const { document } = await cost('--by', 'session', '--no-rollup')
    for (const { key, cost: billed, calls } of document.rows) {
      const ran = await run(['cost', 'explain', key, '--json'], { env, cwd: folder })
      expect(JSON.parse(ran.stdout).total).toMatchObject({ calls, usd: billed.usd })
    }
    const rolled = await cost('--by', 'session')
    for (const { key, cost: billed } of rolled.document.rows) {
      const { stdout } = await run(['cost', 'explain', key, '--json'], { env, cwd: folder })
      const { total, totalWithSpawned = total } = JSON.parse(stdout)
      expect(totalWithSpawned.usd).toBe(billed.usd)
    }
    const texts = await Promise.all(
      document.rows.map(({ key }: { key: string }) => run(['cost', 'explain', key], { env, cwd: folder })),
    )
    const all = texts.map(({ stdout }) => stdout).join('')
    expect(all).toContain('input: 10 × $3.00 a million = $0.00003\n')
    expect(all.match(/billed to /g)).toHaveLength(5)
    expect(hasControls(all)).toBe(false)
  })
})

describe('hansard cost explain of a session in several recordings', () => {
  /** Logs are taken in one by one: each is a recording of its own. */
  async function explained(logs: Readonly<Record<string, string>>, config?: string) {
    const base = fs.mkdtempSync(join(folder, 'recordings-'))
    const archive = join(base, 'archive')
    const own = { env: { HANSARD_HOME: archive, HOME: base }, cwd: folder }
    fs.mkdirSync(archive)
    if (config !== undefined) fs.copyFileSync(config, join(archive, 'hansard.config.json'))
    for (const [name, text] of Object.entries(logs)) {
      fs.writeFileSync(join(base, name), text)
      expect((await run(['import', join(base, name)], own)).code).toBe(0)
    }
    const bySession = await run(['cost', '--by', 'session', '--no-rollup', '--json'], own)
    const [row, ...others] = JSON.parse(bySession.stdout).rows
    expect(others).toEqual([])
    const json = await run(['cost', 'explain', row.key, '--json'], own)
    const { stdout } = await run(['cost', 'explain', row.key], own)
    return { row, explained: JSON.parse(json.stdout), text: stdout }
  }

  it('counts a call that one of them ends in, and says which counted it', async () => {
    const { meta, turn, asked, said, counted, text } = rollout
    const begun = [meta(), turn('gpt-5.5'), asked('one'), said('1', 2)]
    const logs = { 'a.jsonl': text(...begun), 'b.jsonl': text(...begun, counted([100, 20, 10, 0])) }
    const prices = fs.mkdtempSync(join(folder, 'prices-'))
    const price = { input: '7', cacheRead: '1', output: '9', source: 'contract', fetchedAt: '2026-01-01' }
    const mine = { id: 'mine/gpt', provider: 'mine', model: 'gpt-5.5', ...price }
    fs.writeFileSync(join(prices, 'hansard.config.json'), JSON.stringify({ prices: [mine] }))
    for (const config of [undefined, join(prices, 'hansard.config.json')]) {
      const { row, explained: whole, text: shown } = await explained(logs, config)
      expect(row.calls).toBe(1)
      expect(whole.total).toMatchObject({ calls: 1, usd: row.cost.usd })
      expect(shown).toContain('by another recording of the call, which counted it\n')
    }
  })

  it('leaves out calls without a name of those that do not speak for it', async () => {
    const atif = (steps: number, prompt: number): string =>
      JSON.stringify({
        schema_version: 'ATIF-v1.5',
        session_id: 'one-of-three',
        agent: { name: 'terminus-2', version: '2', model_name: 'gpt-4o' },
        steps: Array.from({ length: steps }, (_, n) => ({
          step_id: n + 1,
          source: 'agent',
          message: `${prompt}: ${n}`,
          metrics: { prompt_tokens: prompt + n, completion_tokens: 10 },
        })),
      })
    const logs = { 'a.json': atif(2, 100), 'b.json': atif(3, 200), 'c.json': atif(1, 300) }
    const { row, explained: whole, text: shown } = await explained(logs)
    expect(whole.total).toMatchObject({ calls: row.calls, usd: row.cost.usd })
    expect(row.calls).toBe(3)
    expect(whole.calls).toHaveLength(6)
    expect(shown.match(/not on the bill: /g)).toHaveLength(3)
  })
})

describe('hansard cost prices', () => {
  it('shows the row behind a number, whatever its spelling, and takes those of the user', async () => {
    const rows = async (): Promise<object[]> => {
      const ran = await run(['cost', 'prices', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', '--json'], {
        env,
        cwd: folder,
      })
      return JSON.parse(ran.stdout).rows
    }
    expect(await rows()).toMatchObject([
      {
        id: 'anthropic/claude-sonnet-4-5',
        source: expect.stringContaining('https://'),
        fetchedAt: expect.any(String),
        isOwn: false,
      },
    ])
    const own = {
      id: 'mine/s',
      provider: 'mine',
      model: 'claude-sonnet-4-5',
      source: 'contract',
      fetchedAt: '2026-01-01',
    }
    const config = join(home, 'hansard.config.json')
    const configure = (price: object): void =>
      fs.writeFileSync(config, JSON.stringify({ prices: [{ ...own, ...price }] }))
    configure({ input: '1', output: '1' })
    expect(await rows()).toMatchObject([{ id: 'mine/s', isOwn: true }])
    const ran = await run(['cost', '--by', 'model', '--json'], { env, cwd: folder })
    const document = JSON.parse(ran.stdout)
    expect(document.prices).toBe('configured')
    const [row] = document.rows.filter(({ key }: { key: string }) => key === 'claude-sonnet-4-5')
    expect(row.cost.usd).toBe('0.000090')
    for (const wrong of [
      { input: 'one', output: '1' },
      { input: '1' },
      { input: '1', output: '1', extra: 1 },
    ]) {
      configure(wrong)
      const refused = await run(['cost', '--json'], { env, cwd: folder })
      expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([2, 'invalid-argument'])
    }
    fs.rmSync(config)
  })

  it('says that a model has none', async () => {
    const ran = await run(['cost', 'prices', 'nope', '--json'], { env, cwd: folder })
    expect([ran.code, JSON.parse(ran.stdout).error.code]).toEqual([1, 'not-found'])
  })
})

function hasControls(text: string): boolean {
  return text.includes('\u001B') || text.includes('\u202E')
}
