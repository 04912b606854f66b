import fs from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claudeLog, createMachine, type Machine } from '../../test/machine.ts'
import { isHansardError } from '../errors.ts'
import type { Database } from '../sqlite/driver.ts'
import { peekState, type State } from '../sources/state.ts'
import { parseQuery } from './query.ts'
import { toSessionFilter } from './session-filter.ts'
import { SESSION_SORTS } from './session-sorts.ts'
import { flagsFilter } from './session-where.ts'
import { querySessions, type FoundSession } from './sessions.ts'
import { queryStats } from './stats.ts'

const COUNT = 12
const idOf = (n: number): string => `aaaaaaaa-0000-4000-8000-0000000000${String(n).padStart(2, '0')}`

/** A session in which a tool is called so often, the last time in vain. */
function logOf(n: number): string {
  const session = idOf(n)
  const more = { gitBranch: n % 2 === 0 ? 'main' : 'feature/Ä[1]?' }
  const cwd = `/work/Project-${n % 3}`
  const lines = [claudeLog(0, { session, text: `Fix the login number ${n}`, cwd, more })]
  for (let call = 0; call < n; call += 1) {
    const [at, answer] = [call * 2 + 1, call * 2 + 2]
    const asked = JSON.parse(claudeLog(at, { session, cwd, more })) as { message: { content: unknown } }
    const name = n % 2 === 0 ? 'Bash' : 'Read'
    const input = n % 2 === 0 ? { command: 'npm test' } : { file_path: `/src/File${call}.ts` }
    asked.message.content = [{ type: 'tool_use', id: `toolu_${n}_${call}`, name, input }]
    const said = JSON.parse(claudeLog(answer, { session, cwd, more })) as { message: { content: unknown } }
    const isLast = call === n - 1
    said.message.content = [
      {
        type: 'tool_result',
        tool_use_id: `toolu_${n}_${call}`,
        content: 'x',
        ...(isLast && { is_error: true }),
      },
    ]
    lines.push(`${JSON.stringify(asked)}\n`, `${JSON.stringify(said)}\n`)
  }
  return lines.join('')
}

let machine: Machine
let state: State
let database: Database

beforeAll(async () => {
  machine = createMachine()
  for (let n = 0; n < COUNT; n += 1) machine.write(machine.log(idOf(n)), logOf(n))
  await machine.sync()
  const opened = await peekState(machine.archive())
  if (opened === undefined) throw new Error('no state')
  state = opened
  database = state.database
})

afterAll(() => {
  state.close()
  fs.rmSync(machine.base, { recursive: true, force: true })
})

/** The numbers of the sessions found. */
function find(text: string): readonly number[] {
  const { sessions, total } = querySessions(database, {
    filter: toSessionFilter(parseQuery(text, { utc: true })),
  })
  expect(sessions).toHaveLength(total)
  return sessions.map(numberOf).toSorted((a, b) => a - b)
}

const numberOf = ({ prompt = '' }: FoundSession): number => Number(/\d+$/.exec(prompt)?.[0])
const all = Array.from({ length: COUNT }, (_, n) => n)
const even = all.filter((n) => n % 2 === 0)
const odd = all.filter((n) => n % 2 === 1)

describe('sessions by query', () => {
  it.each([
    ['', all],
    ['tool:bash', even.slice(1)],
    ['tool:Ba*', even.slice(1)],
    ['-tool:bash', [0, ...odd]],
    ['tool:read,bash', all.slice(1)],
    ['has:error', all.slice(1)],
    ['-has:error', [0]],
    ['has:thinking', []],
    ['branch:main', even],
    ['branch:FEATURE/ä[1]?', odd],
    ['branch:feature/ä[1]*', odd],
    ['branch:feature*?', odd],
    ['project:project-1', [1, 4, 7, 10]],
    ['project:/work/*-2', [2, 5, 8, 11]],
    ['agent:claude-code', all],
    ['model:sonnet', all.slice(1)],
    ['model:opus', []],
    ['source:primary', all],
    ['source:subagent', []],
    ['status:completed,interrupted,running', all],
    ['run:x', []],
    ['file:file3.ts', [5, 7, 9, 11]],
    ['file:src*10.TS', [11]],
    ['-file:file3.ts', [0, 1, 2, 3, 4, 6, 8, 10]],
    ['tokens>100', [7, 8, 9, 10, 11]],
    ['tokens<=30', [1, 2]],
    ['cost>0', all.slice(1)],
    ['cost<0', []],
    ['since:2025-10-09', all],
    ['since:2030-01', []],
    ['until:2020-01-01', []],
    ['login', all],
    ['"number 7"', [7]],
    ['numb* -login', []],
    ["'umber 1'", [1, 10, 11]],
    ['/number [35]$/', [3, 5]],
    ['"number 7" OR tool:bash', [...even.slice(1), 7].toSorted((a, b) => a - b)],
    ['(file:file9.ts OR "number 2") has:error', [2, 11]],
    ['logout', []],
  ])('%s', (text, numbers) => expect(find(text)).toEqual(numbers))

  it('cannot be asked for a role, nor for more fields than there is room for', () => {
    for (const text of ['role:user', 'login OR role:tool', 'tool:x '.repeat(300)]) {
      try {
        toSessionFilter(parseQuery(text))
        expect.unreachable()
      } catch (error) {
        expect(isHansardError(error) && error.code === 'invalid-argument' && error.hint).toBeTruthy()
      }
    }
  })

  it('take any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from('"\'/\\()-*:<>=, abtool[]?%_')), maxLength: 40 }),
        (text) => {
          try {
            querySessions(database, { filter: toSessionFilter(parseQuery(text)) })
          } catch (error) {
            if (!isHansardError(error) || error.code !== 'invalid-argument') throw error
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('by flags, exactly', () => {
    expect(querySessions(database, { filter: flagsFilter({ run: 'x' }) }).total).toBe(0)
    expect(querySessions(database, { filter: flagsFilter({ status: 'failed' }) }).total).toBe(0)
    const { total } = querySessions(database, { filter: flagsFilter({ since: '2025-01-01T00:00:00.000Z' }) })
    expect(total).toBe(COUNT)
  })
})

describe('an order', () => {
  it.each([...SESSION_SORTS])('by %s, both ways, page by page, is one list', (sort) => {
    for (const reverse of [false, true]) {
      const whole = querySessions(database, { sort, reverse }).sessions.map(({ id }) => id)
      const paged: string[] = []
      let after: string | undefined
      do {
        const page = querySessions(database, {
          sort,
          reverse,
          limit: 5,
          ...(after !== undefined && { after }),
        })
        expect(page.total).toBe(COUNT)
        paged.push(...page.sessions.map(({ id }) => id))
        after = page.next
      } while (after !== undefined)
      expect(paged).toEqual(whole)
      expect(new Set(whole).size).toBe(COUNT)
      const skipped = querySessions(database, { sort, reverse, limit: 4, offset: 3 }).sessions.map(
        ({ id }) => id,
      )
      expect(skipped).toEqual(whole.slice(3, 7))
      const [third = ''] = whole.slice(2)
      expect(querySessions(database, { sort, reverse, after: third }).sessions[0]?.id).toBe(whole[3])
    }
  })

  it('has the largest first and what is unknown last', () => {
    const calls = querySessions(database, { sort: 'tools' }).sessions.map(({ totals }) => totals?.toolCalls)
    expect(calls).toEqual(all.toReversed())
    expect(numberOf(querySessions(database, { sort: 'tokens' }).sessions.at(-1) as FoundSession)).toBe(0)
    expect(
      numberOf(querySessions(database, { sort: 'tokens', reverse: true }).sessions.at(-1) as FoundSession),
    ).toBe(0)
  })

  it('does not begin where no page ends', () => {
    expect(() => querySessions(database, { after: 'nowhere' })).toThrow('no page begins there')
  })
})

describe('a session says', () => {
  it('what it did', () => {
    const [most] = querySessions(database, { sort: 'tools' }).sessions
    expect(most?.did).toMatchObject({
      toolsFailed: 1,
      errors: 1,
      filesTouched: 11,
      repeatedCalls: 0,
      rereads: 0,
    })
    const [, second] = querySessions(database, { sort: 'tools' }).sessions
    expect(second?.did).toMatchObject({ toolsFailed: 1, filesTouched: 0, repeatedCalls: 9 })
  })
})

describe('statistics', () => {
  it('are of the sessions that are asked for', () => {
    const filter = toSessionFilter(parseQuery('tool:bash'))
    const { sessions, totals, tools, median, average, waste, findings } = queryStats(database, { filter })
    expect(sessions).toBe(5)
    expect(totals).toMatchObject({
      toolCalls: 30,
      toolsFailed: 5,
      repeatedCalls: 25,
      rereads: 0,
      errors: 5,
      calls: 30,
    })
    expect(tools).toMatchObject([
      {
        tool: 'Bash',
        calls: 30,
        failed: 5,
        failureRate: 0.1667,
        timed: 30,
        totalMs: 30_000,
        averageMs: 1000,
        sessions: 5,
      },
    ])
    expect([median.toolCalls, average.toolCalls, median.tokens]).toEqual([6, 6, 90])
    expect(waste['repeated-calls'].sessions).toBe(4)
    expect(findings[0]).toMatchObject({ kind: 'repeated-calls', tool: 'Bash', count: 10 })
    expect(findings[0]?.citations[0]).toMatch(/^[0-9a-f-]{36}#1$/)
  })

  it('of nothing are nothing', () => {
    const filter = toSessionFilter(parseQuery('tool:none'))
    expect(queryStats(database, { filter })).toMatchObject({
      sessions: 0,
      average: {},
      median: {},
      tools: [],
      findings: [],
      totals: { toolCalls: 0, cost: { usd: null } },
    })
  })
})
