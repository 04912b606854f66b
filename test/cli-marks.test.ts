/** Four sessions, each as sure of its counts as its log is: what every command's text says of them. */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { claudeLog } from './machine.ts'
import { run, temporaryFolder } from './program.ts'

const folder = temporaryFolder()
const env = { HANSARD_HOME: join(folder, 'archive'), HOME: folder }

const EXACT = 'aaaaaaaa-0000-4000-8000-000000000001'
const PLACEHOLDER = 'bbbbbbbb-0000-4000-8000-000000000002'
const ESTIMATED = 'cccccccc-0000-4000-8000-000000000003'
const ONE_SIDED = 'dddddddd-0000-4000-8000-000000000004'

/** One question and one answer of Claude Code, its message changed. */
function asked(session: string, message: object): string {
  const answer = JSON.parse(claudeLog(1, { session })) as { message: object }
  const line = { ...answer, message: { ...answer.message, ...message } }
  return `${claudeLog(0, { session })}${JSON.stringify(line)}\n`
}

/** Copilot says what it read when it is shut down, which it was not. */
function copilotLog(): string {
  const line = (n: number, type: string, data: object): string =>
    `${JSON.stringify({ type, data, id: `e${n}`, timestamp: `2026-06-01T09:00:0${n}.000Z`, parentId: null })}\n`
  return [
    line(1, 'session.start', { sessionId: ONE_SIDED, version: 1, producer: 'copilot-agent', context: {} }),
    line(2, 'user.message', { content: 'look', attachments: [] }),
    line(3, 'assistant.message', {
      messageId: 'm1',
      apiCallId: 'msg_1',
      model: 'claude-sonnet-4.5',
      content: 'I looked.',
      toolRequests: [],
      outputTokens: 41_776,
    }),
  ].join('')
}

const ids = new Map<string, string>()

beforeAll(async () => {
  const write = (path: string, text: string): void => {
    fs.mkdirSync(dirname(join(folder, path)), { recursive: true })
    fs.writeFileSync(join(folder, path), text)
  }
  const claude = (session: string, message: object): void =>
    write(`.claude/projects/-p/${session}.jsonl`, asked(session, message))
  claude(EXACT, { usage: { input_tokens: 100_000, output_tokens: 5 } })
  // A message whose stream ended before its usage was told: 3 stands for what nobody wrote down.
  claude(PLACEHOLDER, { stop_reason: null, usage: { input_tokens: 90_646, output_tokens: 3 } })
  // For how long it was written decides its price, and is not said.
  const writes = { input_tokens: 7000, output_tokens: 5, cache_creation_input_tokens: 30_000 }
  claude(ESTIMATED, { usage: writes })
  write(`.copilot/session-state/${ONE_SIDED}/events.jsonl`, copilotLog())
  expect((await run(['sync'], { env, cwd: folder })).code).toBe(0)
  const { sessions } = JSON.parse((await text('list', '--json')).stdout) as {
    readonly sessions: readonly { readonly id: string; readonly usage: { readonly quality: string } }[]
  }
  const qualities = ['reported', 'partial', 'estimated', 'partial']
  expect(sessions.map(({ usage }) => usage.quality).toSorted()).toEqual(qualities.toSorted())
  // By what is in each: a kept session's id is ours.
  for (const { id } of sessions) {
    const { stdout } = await text('show', id, '--mode', 'summary')
    const name = [
      ['100,000 in', EXACT],
      ['90,646 in', PLACEHOLDER],
      ['37,000 in', ESTIMATED],
      ['unknown in', ONE_SIDED],
    ].find(([said]) => stdout.includes(said as string))?.[1]
    ids.set(name as string, id)
  }
  expect(ids.size).toBe(4)
})

const text = (...args: readonly string[]) => run(args, { env, cwd: folder })
const idOf = (session: string): string => ids.get(session) as string
/** The row of a table that begins so, its columns told apart by two spaces. */
const row = (table: string, begins: string): string[] =>
  (table.split('\n').find((line) => line.startsWith(begins)) ?? '').trim().split(/\s{2,}/)

const LEGEND = /^≥ at least: .+; ~ estimated$/m

describe('what is not exact', () => {
  it('is marked in list, with what the marks mean', async () => {
    const { stdout, stderr } = await text('list')
    expect(row(stdout, idOf(EXACT)).join('  ')).toContain('100,000  5  $0.30')
    expect(row(stdout, idOf(PLACEHOLDER)).join('  ')).toContain('≥ 90,646  ≥ 3  ≥ $0.27')
    expect(row(stdout, idOf(ESTIMATED)).join('  ')).toContain('~ 37,000  ~ 5  ~ $0.13')
    expect(row(stdout, idOf(ONE_SIDED)).join('  ')).toContain('unknown  ≥ 41,776  ≥ $0.63')
    expect(stderr).toMatch(LEGEND)
    const [header = '', ...lines] = stdout.trimEnd().split('\n')
    const end = header.indexOf('COST') + 'COST'.length
    for (const line of lines) expect(line.slice(0, end)).toMatch(/\$\d\.\d\d$/)
  })

  it('is marked in the views of a session, and of each answer in it', async () => {
    const header = async (session: string, ...flags: readonly string[]): Promise<string> =>
      (await text('show', idOf(session), ...flags)).stdout
    expect(await header(EXACT, '--mode', 'summary')).toContain('Tokens: 100,000 in / 5 out | Cost: $0.30\n')
    const summary = await header(PLACEHOLDER, '--mode', 'summary')
    expect(summary).toContain('Tokens: ≥ 90,646 in / ≥ 3 out | Cost: ≥ $0.27\n')
    expect(await header(PLACEHOLDER, '--mode', 'full')).toContain('[≥ 90,646 tokens in] [≥ 3 tokens out]')
    expect(await header(PLACEHOLDER, '--as', 'md')).toContain('| Tokens Out | ≥ 3 |\n| Cost | ≥ $0.27 |\n')
    const page = await header(PLACEHOLDER, '--as', 'html')
    expect(page).toContain('≥ 90,646 in / ≥ 3 out</dd>\n<dt>Cost</dt><dd>≥ $0.27</dd>')
    expect(page).toContain(' · ≥ 90,646 in / ≥ 3 out</small>')
    expect(await header(ESTIMATED, '--mode', 'summary')).toContain('~ 37,000 in / ~ 5 out | Cost: ~ $0.13\n')
    expect(await header(ONE_SIDED, '--mode', 'summary')).toContain(
      'unknown in / ≥ 41,776 out | Cost: ≥ $0.63\n',
    )
  })

  it('is marked in cost, whatever it is grouped by, and no sum is surer than its parts', async () => {
    const { stdout, stderr } = await text('cost', '--by', 'session')
    expect(row(stdout, idOf(EXACT)).slice(1, 7)).toEqual(['1', '100,000', '-', '-', '5', '$0.30'])
    const placeholder = ['1', '≥ 90,646', '-', '-', '≥ 3', '≥ $0.27']
    expect(row(stdout, idOf(PLACEHOLDER)).slice(1, 7)).toEqual(placeholder)
    expect(row(stdout, idOf(ESTIMATED)).slice(-2, -1)).toEqual(['~ $0.13'])
    expect(row(stdout, idOf(ONE_SIDED)).slice(1, 7)).toEqual(['1', '-', '-', '-', '≥ 41,776', '≥ $0.63'])
    expect(row(stdout, 'total').at(-1)).toBe('~ $1.33')
    expect(stderr).toMatch(LEGEND)
    const agents = await text('cost', '--by', 'agent')
    expect(row(agents.stdout, 'copilot').at(-1)).toBe('≥ $0.63')
    const days = await text('cost', '--since', '2026-01-01')
    expect(row(days.stdout, 'total').at(-1)).toBe('≥ $0.63')
    expect(days.stderr).toMatch(/^≥ at least: [^~]+$/m)
    const scanned = await text('cost', '--no-index')
    expect(row(scanned.stdout, 'total').at(-1)).toBe('~ $1.33')
    const budget = await text('cost', '--since', '2026-01-01', '--budget', '0.5/day')
    expect(budget.stderr).toContain('over budget: 2026-06-01: ≥ $0.63 of $0.50 a day')
  })

  it('is marked where a cost is explained', async () => {
    const explained = async (session: string): Promise<string> => {
      const { stdout, stderr } = await text('cost', 'explain', idOf(session))
      return stdout + stderr
    }
    expect(await explained(EXACT)).toMatch(/ {3}= \$0\.300075\n\n1 call billed: \$0\.30\n$/)
    expect(await explained(PLACEHOLDER)).toMatch(
      / {3}= ≥ \$0\.271983\n\n1 call billed: ≥ \$0\.27\n≥ at least: /,
    )
    expect(await explained(ESTIMATED)).toMatch(/\n\n1 call billed: ~ \$0\.13\n~ estimated\n$/)
    expect(await explained(ONE_SIDED)).toContain('1 call billed: ≥ $0.63\n')
  })

  it('is marked in stats, and where two sessions stand beside each other', async () => {
    const all = await text('stats')
    expect(row(all.stdout, 'cost')).toEqual(['cost', '~ $1.33', '~ $0.33', '~ $0.29'])
    expect(row(all.stdout, 'tokens').slice(0, 2)).toEqual(['tokens', '~ 269,435'])
    expect(all.stderr).toMatch(/^~ estimated$/m)
    const { stdout, stderr } = await text('stats', 'agent:copilot-cli')
    expect(row(stdout, 'cost')).toEqual(['cost', '≥ $0.63', '≥ $0.63', '≥ $0.63'])
    expect(stderr).toMatch(/^≥ at least: /m)
    const exact = await text('stats', 'tokens>99999')
    expect([row(exact.stdout, 'cost')[1], exact.stderr]).toEqual(['$0.30', ''])
    const beside = (await text('diff', idOf(EXACT), idOf(PLACEHOLDER))).stdout
    expect(row(beside, 'Tokens out')).toEqual(['Tokens out', '5', '≥ 3'])
    expect(row(beside, 'Cost')).toEqual(['Cost', '$0.30', '≥ $0.27'])
    expect(beside).toMatch(/^≥ at least: /m)
    const { a, b } = JSON.parse((await text('diff', idOf(EXACT), idOf(PLACEHOLDER), '--json')).stdout)
    expect([a.quality, a.costQuality]).toEqual(['reported', 'reported'])
    expect([b.quality, b.costQuality]).toEqual(['partial', 'partial'])
  })
})
