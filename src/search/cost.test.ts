import fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { record } from '../capture/record.ts'
import { costOf } from '../cost/cost.ts'
import { isNotBilled } from '../cost/models.ts'
import { toUsd } from '../cost/money.ts'
import { openSessions } from '../sources/sessions.ts'
import { peekState } from '../sources/state.ts'
import { createBilling, type Bill } from '../transcript/billing.ts'
import { COUNTS, hasCounts } from '../transcript/usage.ts'
import { PERIODS } from './cost-by.ts'
import { createRepricing } from './cost-repricing.ts'
import { queryCost, type CostQuestion } from './cost.ts'
import type { Relation } from '../transcript/session.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
const TWO = 'bbbbbbbb-0000-4000-8000-000000000002'
const THREE = 'cccccccc-0000-4000-8000-000000000003'

let machine: Machine
const zone = process.env['TZ']
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
  fs.rmSync(machine.base, { recursive: true, force: true })
})

async function ask(question: CostQuestion) {
  const state = await peekState(machine.archive())
  if (state === undefined) throw new Error('there is no state')
  try {
    return queryCost(state.database, question)
  } finally {
    state.close()
  }
}

/** Logs of several agents, with a fork that repeats the calls of another session, stubs, and models that nobody prices. */
async function fill(): Promise<void> {
  machine.write(machine.log(ONE), claudeLogs(40, { session: ONE }))
  const fork = claudeLogs(20, { session: ONE }).replaceAll(`"sessionId":"${ONE}"`, `"sessionId":"${TWO}"`)
  machine.write(machine.log(TWO), fork + claudeLog(61, { session: TWO }) + claudeLog(63, { session: TWO }))
  const odd = claudeLogs(12, { session: THREE, cwd: '/other' })
    .replaceAll('claude-sonnet-4-5', 'nobody-prices-this')
    .replace('nobody-prices-this', '<synthetic>')
    .replace('nobody-prices-this', 'claude-opus-5')
  machine.write(machine.log(THREE), odd)
  machine.write(
    '.codex/sessions/2026/03/04/rollout-2026-03-04T10-00-00-0199d5a1-0000-7000-8000-000000000009.jsonl',
    codexLog('0199d5a1-0000-7000-8000-000000000009'),
  )
  for (const stub of [false, true]) {
    const recorder = await record({
      home: machine.home,
      cwd: machine.cwd,
      durability: 'os',
      flow: stub ? 'rehearsal' : 'build',
      stub,
      now: () => 1_772_000_000_000,
    })
    recorder.user('go')
    recorder.assistant('done', {
      model: 'gpt-5.5',
      usage: { input: 300_000, output: 9, quality: 'reported' },
    })
    await recorder.end()
  }
  await machine.sync()
}

function codexLog(id: string): string {
  const at = '2026-03-04T10:00:00.000Z'
  const tokens = {
    input_tokens: 900,
    cached_input_tokens: 300,
    output_tokens: 44,
    reasoning_output_tokens: 4,
    total_tokens: 944,
  }
  const lines = [
    {
      type: 'session_meta',
      payload: { id, timestamp: at, cwd: '/codex', originator: 'codex_cli_rs', cli_version: '0.99.0' },
    },
    { type: 'turn_context', payload: { cwd: '/codex', model: 'gpt-5.5' } },
    {
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
    },
    {
      type: 'response_item',
      payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ho' }] },
    },
    {
      type: 'event_msg',
      payload: { type: 'token_count', info: { total_token_usage: tokens, last_token_usage: tokens } },
    },
  ]
  return lines.map((line) => `${JSON.stringify({ timestamp: at, ...line })}\n`).join('')
}

/** Every call of the archive once, by reading all of it and nothing that was added up. */
async function bruteForce(): Promise<readonly Bill[]> {
  const sessions = await openSessions(machine.home, { raw: true })
  const billing = createBilling()
  const stubs = new Set<string>()
  try {
    for (const { id } of sessions.list({}).sessions) {
      let model: string | undefined
      for await (const items of sessions.read(sessions.find(id))) {
        for (const item of items) {
          if (item.type === 'session') {
            billing.session(item.session)
            model = item.session.model
            if (item.session.stub === true) stubs.add(id)
          } else if (item.type === 'entry')
            billing.add(id, { ...item.entry, ...(model && !item.entry.model && { model }) })
        }
      }
    }
  } finally {
    sessions.close()
  }
  return billing.bills().filter(({ session, model }) => !stubs.has(session) && !isNotBilled(model ?? ''))
}

function addUp(bills: readonly Bill[]) {
  const counted = bills.filter(({ usage }) => hasCounts(usage))
  const priced = counted.flatMap((bill) => {
    const cost = costOf(bill)
    return 'pico' in cost ? [cost.pico] : []
  })
  const sums = COUNTS.map((count) => counted.reduce((sum, { usage }) => sum + (usage[count] ?? 0), 0))
  return {
    calls: counted.length,
    sums,
    usd: priced.length === 0 ? null : toUsd(priced.reduce((a, b) => a + b, 0n)),
  }
}

describe('cost', () => {
  it.each(['UTC', 'America/New_York', 'Asia/Kathmandu'])(
    'is what a count over everything gives, in %s',
    async (timeZone) => {
      process.env['TZ'] = timeZone
      await fill()
      const bills = await bruteForce()
      const day = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
      const keys: { readonly [by: string]: (bill: Bill) => string } = {
        day: ({ at = '' }) => day.format(Date.parse(at)),
        month: ({ at = '' }) => day.format(Date.parse(at)).slice(0, 7),
        model: ({ model = '(none)' }) => model,
        session: ({ session }) => session,
      }
      expect(addUp(bills).calls).toBeGreaterThan(25)
      for (const by of ['day', 'month', 'model', 'session'] as const) {
        const { rows, total } = await ask({ by, rollup: false })
        const shown = rows.map(({ key, calls, usage, cost: { usd } }) => {
          return [key, { calls, sums: COUNTS.map((count) => usage?.[count] ?? 0), usd }]
        })
        const groups = new Map<string, Bill[]>()
        for (const bill of bills) {
          const key = (keys[by] ?? String)(bill)
          groups.set(key, [...(groups.get(key) ?? []), bill])
        }
        expect(Object.fromEntries(shown)).toEqual(
          Object.fromEntries(Array.from(groups, ([key, members]) => [key, addUp(members)])),
        )
        expect([total.calls, total.cost.usd]).toEqual([addUp(bills).calls, addUp(bills).usd])
      }
    },
  )

  it('has the same total whatever it is grouped by', async () => {
    await fill()
    const { total } = await ask({ by: 'day' })
    expect(total.cost.unpriced).toEqual(['nobody-prices-this'])
    for (const by of [
      ...PERIODS,
      'session',
      'model',
      'agent',
      'project',
      'run',
      'flow',
      'step',
      'block',
      'source',
      'tool',
    ] as const) {
      const answer = await ask({ by })
      expect([by, answer.total]).toEqual([by, total])
      expect([by, answer.rows.reduce((sum, row) => sum + (row.pico ?? 0n), 0n)]).toEqual([by, total.pico])
      expect([by, answer.rows.reduce((sum, row) => sum + row.calls, 0)]).toEqual([by, total.calls])
    }
  })

  it('bills a fork for what it adds, and leaves stubs out', async () => {
    await fill()
    const { rows } = await ask({ by: 'session', rollup: false })
    const calls = new Map(rows.map((row) => [row.session?.native?.sessionId, row.calls]))
    expect([calls.get(ONE), calls.get(TWO)]).toEqual([20, 2])
    const flows = (await ask({ by: 'flow' })).rows.map(({ key }) => key)
    expect(flows).toContain('build')
    expect(flows).not.toContain('rehearsal')
  })

  it('adds sessions to the one that started them, through generations', async () => {
    const recorded = async (parent?: string, relation?: Relation): Promise<string> => {
      const recorder = await record({
        home: machine.home,
        cwd: machine.cwd,
        durability: 'os',
        ...(parent !== undefined && { parent: { session: parent, ...(relation && { relation }) } }),
      })
      recorder.assistant('x', { model: 'claude-opus-5', usage: { input: 1, quality: 'reported' } })
      await recorder.end()
      return recorder.session().id
    }
    const first = await recorded()
    const second = await recorded(first)
    await recorded(second)
    await recorded(second, 'subagent')
    const fork = await recorded(second, 'fork')
    const orphan = await recorded('nowhere')
    await machine.sync()
    const rows = async (rollup: boolean) =>
      (await ask({ by: 'session', rollup })).rows.map(({ key, calls, sessions }) => [key, calls, sessions])
    expect(await rows(true)).toEqual([
      [first, 4, 4],
      [fork, 1, 1],
      [orphan, 1, 1],
    ])
    expect(await rows(false)).toHaveLength(6)
  })

  it('shares a call among the tools it calls, and tells who made it', async () => {
    const call = (n: number, tools: readonly string[], more: object = {}): string => {
      const content = tools.map((name, at) => ({ type: 'tool_use', id: `t${n}-${at}`, name, input: {} }))
      const text = '[{"type":"text","text":"x"}]'
      const line = claudeLog(n, { session: ONE, text: 'x', more })
      return content.length === 0 ? line : line.replace(text, JSON.stringify(content))
    }
    // The second is told by two lines, a block in each, as Claude Code writes them.
    const again = call(3, ['Edit']).replace(`"uuid":"${ONE}-3"`, `"uuid":"${ONE}-3b"`)
    const lines = [
      call(1, ['Bash', 'Read', 'Edit']),
      call(3, ['Bash', 'Bash']),
      again,
      call(5, []),
      call(7, ['__proto__']),
    ]
    machine.write(machine.log(ONE), lines.join(''))
    await machine.sync()
    const { rows, total } = await ask({ by: 'tool' })
    // Ten tokens in: 4, 3 and 3; then 5 and 5.
    const shown = Object.fromEntries(rows.map(({ key, calls, usage }) => [`${key}:`, [calls, usage?.input]]))
    expect(shown).toEqual({
      'Bash:': [2, 9],
      'Edit:': [2, 8],
      'Read:': [1, 3],
      '(no tool):': [1, 10],
      '__proto__:': [1, 10],
    })
    expect(rows.reduce((sum, row) => sum + (row.pico ?? 0n), 0n)).toBe(total.pico)
    expect([total.calls, total.usage?.input]).toEqual([4, 40])
    const sources = (await ask({ by: 'source' })).rows
    expect(sources.map(({ key, calls }) => [key, calls])).toEqual([['primary', 4]])
  })

  it('takes bounds to the millisecond, whatever the digits of an instant', async () => {
    const at = ['2026-05-01T10:00:00.000Z', '2026-05-01T10:00:00.000123Z', '2026-05-01T09:59:59.999999Z']
    const lines = at.map((timestamp, n) => claudeLog(2 * n + 1, { session: ONE, more: { timestamp } }))
    machine.write(machine.log(ONE), lines.join(''))
    await machine.sync()
    const since = await ask({ by: 'day', since: '2026-05-01T10:00:00.000Z' })
    const until = await ask({ by: 'day', until: '2026-05-01T10:00:00.000Z' })
    expect([since.total.calls, until.total.calls]).toEqual([2, 1])
  })

  it('begins a block with the hour of its first call, and the next after five', async () => {
    const times = ['00:59', '01:10', '05:59', '05:00', '11:30', '16:29', '16:30']
    const lines = times.map((time, n) =>
      claudeLog(2 * n + 1, { session: ONE, more: { timestamp: `2026-05-01T${time}:00.000Z` } }),
    )
    machine.write(machine.log(ONE), lines.join(''))
    await machine.sync()
    const { rows } = await ask({ by: 'block' })
    expect(rows.map(({ key, calls }) => [key.slice(11, 16), calls])).toEqual([
      ['00:00', 2],
      ['05:00', 2],
      ['11:00', 1],
      ['16:00', 2],
    ])
    const later = await ask({ by: 'block', since: '2026-05-01T05:30:00.000Z' })
    expect(later.rows.map(({ calls }) => calls)).toEqual([1, 2])
  })

  it('adds up counts that no provider can have meant without failing', async () => {
    for (const session of [ONE, TWO, THREE]) {
      const lines = Array.from({ length: 500 }, (_, n) =>
        claudeLog(2 * n + 1, { session, input: Number.MAX_SAFE_INTEGER }).replace('claude-sonnet-4-5', 'odd'),
      )
      machine.write(machine.log(session), lines.join(''))
    }
    await machine.sync()
    const { total } = await ask({ by: 'day' })
    expect(total).toMatchObject({ calls: 1500, cost: { usd: null, unpriced: ['odd'] } })
  })

  it('puts own prices to the models they name, and says where counts are not all', async () => {
    await fill()
    const row = {
      id: 'mine/x',
      provider: 'mine',
      source: 'contract',
      fetchedAt: '2026-01-01',
      input: '1',
      output: '2',
    }
    const prices = [
      { ...row, model: 'nobody-prices-this' },
      { ...row, id: 'mine/y', model: 'claude-opus-5' },
    ]
    const answer = await ask({ by: 'model', repricing: createRepricing(prices) })
    const usd = new Map(answer.rows.map(({ key, cost }) => [key, cost.usd]))
    // Ten tokens in and five out for each call.
    expect([usd.get('nobody-prices-this'), usd.get('claude-opus-5')]).toEqual(['0.000080', '0.000020'])
    const listed = new Map((await ask({ by: 'model' })).rows.map(({ key, cost }) => [key, cost.usd]))
    expect(usd.get('claude-sonnet-4-5')).toBe(listed.get('claude-sonnet-4-5'))
    expect([answer.total.cost.unpriced, answer.inexact]).toEqual([[], 0])
  })
})
