import fs from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { githubToken } from './fake-keys.ts'
import { run, temporaryFolder } from './program.ts'

const folder = temporaryFolder()
const home = join(folder, 'archive')
const secret = githubToken(3)

beforeAll(async () => {
  const lines = [
    { role: 'user', text: 'Why does the login page show an undefined name?' },
    { role: 'assistant', text: 'Because parseSessionId returns nothing for 日本語のテスト.' },
  ]
  const long = { role: 'user', text: `${'straw '.repeat(2000)} ${'a'.repeat(40)}!` }
  await run(['record', '--home', home], { input: JSON.stringify(long) })
  await run(['record', '--home', home, '--title', 'login'], {
    input: lines.map((line) => JSON.stringify(line)).join('\n'),
  })
  const projects = join(folder, 'claude/projects/p')
  fs.mkdirSync(projects, { recursive: true })
  const line = {
    type: 'user',
    uuid: 'u1',
    parentUuid: null,
    sessionId: 'aaaaaaaa-0000-4000-8000-000000000001',
    timestamp: '2026-05-01T10:00:00.000Z',
    userType: 'external',
    isSidechain: false,
    message: { role: 'user', content: `deploy with the key ${secret} please` },
  }
  fs.writeFileSync(join(projects, `${line.sessionId}.jsonl`), `${JSON.stringify(line)}\n`)
  await run(['sync', '--home', home], {
    env: { CLAUDE_CONFIG_DIR: join(folder, 'claude'), HOME: folder },
    cwd: folder,
  })
})

async function found(...query: string[]) {
  const { stdout, code } = await run(['search', ...query, '--home', home, '--json'])
  expect(code).toBe(0)
  return JSON.parse(stdout)
}

describe('hansard search', () => {
  it('finds words, parts of identifiers and two characters of Japanese', async () => {
    for (const query of ['undefined name', 'session', '本語', '"login page"', 'undef*']) {
      const { hits, total, scanned, tookMs } = await found(query)
      expect([query, hits.length, total]).toEqual([query, 1, 1])
      expect(hits[0]).toMatchObject({
        session: expect.any(String),
        citation: expect.stringContaining('#'),
        snippet: expect.any(String),
      })
      expect([scanned, tookMs]).toEqual([expect.any(Object), expect.any(Number)])
    }
  })

  it('gives citations that show opens', async () => {
    const { hits } = await found('undefined name')
    const shown = await run(['show', hits[0].citation, '--home', home, '--context', '0', '--json'])
    const { entries } = JSON.parse(shown.stdout)
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({ source: hits[0].source, sequence: hits[0].sequence })
    const none = await run(['show', `${hits[0].session}#999`, '--home', home])
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('has no entry #999')])
  })

  it('takes fields, and what must not be there', async () => {
    expect((await found('role:user', 'login')).total).toBe(1)
    expect((await found('role:assistant', 'login')).total).toBe(0)
    expect((await found('name -undefined')).total).toBe(0)
  })

  it('lets no secret of a kept file out', async () => {
    const { stdout } = await run(['search', 'deploy', '--home', home, '--json'])
    expect(stdout).toContain('deploy with the key')
    expect(stdout).not.toContain(secret)
  })

  it('says that nothing was found, what was searched, and which part of the query leaves nothing', async () => {
    const { stdout, stderr, code } = await run(['search', 'role:assistant', 'login', '--home', home])
    expect([stdout, code]).toEqual(['', 0])
    expect(stderr).toMatch(/nothing was found \(\d+ ms/u)
    expect(stderr).toMatch(/searched 4 entries of 3 sessions in 3 units/u)
    expect(stderr).toContain('0 with role:assistant; 1 without it')
    const answer = await found('role:assistant', 'login')
    expect(answer).toMatchObject({
      hits: [],
      total: 0,
      searched: { units: 3, sessions: 3, entries: 4, since: expect.any(String), until: expect.any(String) },
      without: expect.arrayContaining([{ part: 'role:assistant', found: 1, isAll: true }]),
      scanned: { units: expect.any(Number) },
    })
  })

  it('answers words by themselves as it does words with options, though another file of the program does', async () => {
    const queries = [
      'undefined name',
      'deploy',
      'straw',
      '"login page"',
      'undef*',
      'role:user',
      'login OR deploy',
    ]
    for (const query of [...queries, 'nothere', 'role:nobody', "'ndefine'", '']) {
      const quick = await run(['search', query], { env: { HANSARD_HOME: home } })
      const whole = await run(['search', query, '--limit', '20', '--home', home])
      const said = [whole, quick].map(({ stdout, stderr, code }) => [
        stdout,
        stderr.replaceAll(/\d+ ms/gu, 'ms'),
        code,
      ])
      expect([query, said[1]]).toEqual([query, said[0]])
    }
  })

  it('needs one file of the program for them', async () => {
    const cache = join(folder, 'cache')
    await run(['sync', '--home', home], { env: { HOME: folder }, cwd: folder })
    const { stdout } = await run(['search', 'deploy'], { env: { HANSARD_HOME: home, XDG_CACHE_HOME: cache } })
    expect(stdout).toContain('deploy')
    const none = await run(['search', 'nothere'], { env: { HANSARD_HOME: home, XDG_CACHE_HOME: cache } })
    expect(none.stderr).toContain('nothing was found')
    const kept = fs.existsSync(cache) ? fs.readdirSync(cache, { recursive: true, encoding: 'utf8' }) : []
    const code = kept.filter((name) => name.endsWith('.js'))
    // Node.js 22 and later keep what they compiled themselves, under other names.
    if (code.length > 0) expect(code).toEqual([expect.stringMatching(/quick-search-[^/]*\.js$/u)])
  })

  it('names the nearest spelling that the index has', async () => {
    await run(['sync', '--index', '--home', home], { env: { HOME: folder }, cwd: folder })
    const { spelling } = await found('undefinde')
    expect(spelling).toEqual([{ word: 'undefinde', nearest: 'undefined' }])
    const { stderr } = await run(['search', 'undefinde', '--home', home])
    expect(stderr).toContain('did you mean “undefined”?')
  })

  it('marks matches in the words around them, below what the session is about', async () => {
    const plain = await run(['search', 'undefined name', '--home', home])
    expect(plain.stdout).toMatch(
      /^login .*\n[-0-9a-f]+#0 {2}.* {2}user\n {2}Why does the login page show an «undefined» «name»\?\n$/u,
    )
    const painted = await run(['search', 'undefined', '--home', home], { env: { FORCE_COLOR: '1' } })
    expect(painted.stdout).toContain('\u001b[1mundefined\u001b[22m')
  })

  it('fits a budget of tokens, which is at most three bytes each', async () => {
    for (const tokens of [400, 700, 5000]) {
      const { stdout, code } = await run([
        'search',
        'straw',
        '--home',
        home,
        '--json',
        '--budget-tokens',
        `${tokens}`,
      ])
      expect([code, Buffer.byteLength(stdout) <= tokens * 3]).toEqual([0, true])
      const { hits, budget } = JSON.parse(stdout)
      expect(hits[0]).toMatchObject({
        citation: expect.stringContaining('#'),
        snippet: expect.stringContaining('straw'),
      })
      expect(budget).toMatchObject({ tokens, estimate: expect.any(String) })
      expect(budget.used).toBe(Math.ceil(Buffer.byteLength(stdout) / 3))
    }
    const few = await run(['search', 'straw', '--home', home, '--json', '--budget-tokens', '5'])
    expect([few.code, JSON.parse(few.stdout).error.code]).toEqual([1, 'invalid-argument'])
  })

  it('ends a pattern that would take for ever, with an error that says so', async () => {
    const { stdout, code } = await run(['search', '--regex', '(a+)+$', '--home', home, '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'invalid-argument', hint: expect.any(String) })
  })

  it('refuses a query that cannot be meant, and says what would be right', async () => {
    const { stdout, code } = await run(['search', 'role:wizard', '--home', home, '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'invalid-argument', hint: expect.any(String) })
  })
})
