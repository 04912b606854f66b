import fs from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs } from './machine.ts'
import { run, temporaryFolder } from './program.ts'

const folder = temporaryFolder()
const env = { HANSARD_HOME: join(folder, 'archive'), HOME: folder }

const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001'
const FORK = 'cccccccc-0000-4000-8000-000000000003'
const SECRET = `sk-ant-api03-${'Ab1'.repeat(30)}`

/** Four times the same call, of a tool whose name is hostile; the file it names has a key in its name. */
function looping(session: string): string {
  const lines = Array.from({ length: 4 }, (_, n) => {
    const asked = JSON.parse(claudeLog(2 * n + 1, { session, call: `shared_${n}` })) as {
      message: { content: unknown }
    }
    const input = { file_path: `/keys/${SECRET}` }
    asked.message.content = [{ type: 'tool_use', id: `toolu_${n}`, name: '\u001b[31m__proto__', input }]
    const said = JSON.parse(claudeLog(2 * n + 2, { session })) as { message: { content: unknown } }
    said.message.content = [{ type: 'tool_result', tool_use_id: `toolu_${n}`, content: 'no', is_error: true }]
    return `${JSON.stringify(asked)}\n${JSON.stringify(said)}\n`
  })
  return claudeLog(0, { session, text: 'Fix the login' }) + lines.join('')
}

beforeAll(async () => {
  const projects = join(folder, '.claude/projects/-p')
  fs.mkdirSync(projects, { recursive: true })
  fs.writeFileSync(join(projects, `${SESSION}.jsonl`), looping(SESSION))
  // A fork: the same calls, and one more.
  fs.writeFileSync(
    join(projects, `${FORK}.jsonl`),
    looping(FORK) + claudeLogs(12, { session: FORK }).slice(-700),
  )
  await run(['sync'], { env, cwd: folder })
})

const json = async (...args: readonly string[]) => {
  const { stdout } = await run([...args, '--json'], { env, cwd: folder })
  return JSON.parse(stdout) as Record<string, unknown>
}

describe('hansard stats', () => {
  it('counts what a fork copied once, and says who looped, with what shows it', async () => {
    const stats = await json('stats')
    expect(stats).toMatchObject({
      sessions: 2,
      totals: { toolCalls: 4, toolsFailed: 4, repeatedCalls: 3 },
      tools: [{ calls: 4, failed: 4, failureRate: 1, sessions: 1 }],
      waste: { 'repeated-calls': { sessions: 1 }, failures: { sessions: 1 } },
    })
    const [finding] = stats['findings'] as { readonly citations: readonly string[] }[]
    const { code, stdout } = await run(['show', finding?.citations[0] ?? ''], { env, cwd: folder })
    expect([code, stdout.includes('__proto__')]).toEqual([0, true])
  })

  it('is text for people, in which nothing foreign acts and no secret stands', async () => {
    const { code, stdout } = await run(['stats', 'login'], { env, cwd: folder })
    expect(code).toBe(0)
    expect(stdout).toContain('2 sessions')
    expect(stdout).toContain('called 4 times with the same input')
    expect(stdout).not.toContain('\u001b')
    const state = fs.readFileSync(join(folder, 'archive/index/state.db'))
    expect(state.includes(SECRET)).toBe(false)
  })

  it('of an archive that is empty is of nothing', async () => {
    const home = join(folder, 'none')
    expect(
      JSON.parse((await run(['stats', '--json', '--home', home], { cwd: folder })).stdout),
    ).toMatchObject({
      sessions: 0,
      tools: [],
    })
    expect((await run(['stats', '--home', home], { cwd: folder })).stderr).toContain('no sessions in')
  })
})

describe('hansard list', () => {
  it('takes a query, an order and a page', async () => {
    expect(await json('list', 'login', 'has:error', '--sort', 'entries', '--limit', '1')).toMatchObject({
      total: 2,
      sessions: [{ toolCalls: 4, toolsFailed: 4, errors: 4, filesTouched: 0, repeatedCalls: 3 }],
    })
    const first = await json('list', '--limit', '1')
    const second = await json('list', '--limit', '1', '--after', String(first['next']))
    const ids = [first, second].map(({ sessions }) => (sessions as { readonly id: string }[])[0]?.id)
    expect(new Set(ids).size).toBe(2)
    expect(second['next']).toBeUndefined()
    expect(await json('list', 'login -has:error')).toMatchObject({ sessions: [], total: 0 })
  })

  it.each([
    [['list', 'role:user'], 'role: is asked of entries'],
    [['list', 'since:banana'], 'is no time'],
    [['list', '--since', 'banana'], 'is no time'],
    [['list', '/(/'], 'is not a regular expression'],
    [['list', '--after', 'nowhere'], 'no page begins there'],
    [['list', '--sort', 'luck'], '--sort'],
    [['stats', 'role:user'], 'role: is asked of entries'],
    [['stats', '--until', ''], 'is no time'],
  ])('%j is an error that says why', async (args, message) => {
    const { code, stderr, stdout } = await run(args, { env, cwd: folder })
    expect(code).not.toBe(0)
    expect([stdout, stderr.includes(message)]).toEqual(['', true])
  })
})
