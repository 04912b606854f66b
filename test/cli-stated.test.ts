/** Sessions whose source states tokens and a cost of its own: what every command says of them is what was counted, where it was. */
import fs from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { run, temporaryFolder } from './program.ts'

const folder = temporaryFolder()
const env = { HANSARD_HOME: join(folder, 'archive'), HOME: folder }
const text = (...args: readonly string[]) => run(args, { env, cwd: folder })

type Said = { readonly model?: string; readonly counts?: object; readonly total_cost_usd?: number }

/** One question and one answer; the last metrics are of more than that. */
function atif(name: string, { model, counts, total_cost_usd }: Said): string {
  const path = join(folder, `${name}.json`)
  const document = {
    schema_version: 'ATIF-v1.6',
    session_id: name,
    agent: { name: 'terminus-2', version: '2.0.0', ...(model !== undefined && { model_name: model }) },
    steps: [
      { step_id: 1, source: 'user', message: `the question of ${name}` },
      { step_id: 2, source: 'agent', message: 'an answer', ...(counts && { metrics: counts }) },
    ],
    final_metrics: {
      total_prompt_tokens: 7802,
      total_completion_tokens: 1030,
      ...(total_cost_usd !== undefined && { total_cost_usd }),
    },
  }
  fs.writeFileSync(path, JSON.stringify(document))
  return path
}

const COUNTS = { prompt_tokens: 4000, completion_tokens: 500 }

type Row = { readonly id: string; readonly prompt: string; readonly cost: unknown; readonly usage?: object }
const rows = async (...args: readonly string[]): Promise<readonly Row[]> =>
  (JSON.parse((await text('list', ...args, '--json')).stdout) as { sessions: readonly Row[] }).sessions
const named = (all: readonly Row[]): string[] => all.map(({ prompt }) => prompt.split(' ').at(-1) ?? '')
let ids: ReadonlyMap<string, string>
const line = (table: string, name: string): string =>
  table.split('\n').find((one) => one.startsWith(ids.get(name) ?? '?')) ?? ''

beforeAll(async () => {
  const logs = [
    // $0.02 by its calls.
    atif('priced', { model: 'openai/gpt-4o', counts: COUNTS, total_cost_usd: 0.99 }),
    atif('unheard', { model: 'nobody/unheard-of', counts: COUNTS, total_cost_usd: 0.5 }),
    atif('uncounted', {}),
  ]
  expect((await text('import', ...logs)).code).toBe(0)
  const all = await rows()
  ids = new Map(named(all).map((name, at) => [name, all[at]?.id ?? '']))
  expect([...ids.keys()].toSorted()).toEqual(['priced', 'uncounted', 'unheard'])
})

describe('what the source states', () => {
  it('stands in list only where nothing was counted or computed, and is told from what was', async () => {
    const { stdout, stderr } = await text('list')
    expect(line(stdout, 'priced')).toMatch(/ 4,000 +500 +\$0\.02 /)
    expect(line(stdout, 'unheard')).toMatch(/ 4,000 +500 +\* \$0\.50 /)
    expect(line(stdout, 'uncounted')).toMatch(/ 7,802 +1,030 +unknown /)
    expect(stderr).toMatch(/^\* as its source states it: no cost could be computed$/m)
    const computed = await text('list', 'priced')
    expect(computed.stderr).not.toContain('states')
  })

  it('is what list is sorted and asked by only where it is what list shows', async () => {
    expect(named(await rows('--sort', 'cost'))).toEqual(['unheard', 'priced', 'uncounted'])
    expect(named(await rows('cost>0.1'))).toEqual(['unheard'])
    expect(named(await rows('cost<0.1'))).toEqual(['priced'])
    expect(named(await rows('--sort', 'tokens'))[0]).toBe('uncounted')
    expect(named(await rows('tokens>5k'))).toEqual(['uncounted'])
    expect(named(await rows('tokens<5k')).toSorted()).toEqual(['priced', 'unheard'])
  })

  it('is no token of a session in its views, nor its cost beside another', async () => {
    const id = ids.get('priced') ?? ''
    const summary = (await text('show', id, '--mode', 'summary')).stdout
    expect(summary).toContain('Tokens: 4,000 in / 500 out | Cost: $0.99 (computed: $0.02)\n')
    expect((await text('export', id, '--as', 'md', '--out', '-')).stdout).toContain('| Tokens In | 4,000 |\n')
    const { stdout } = await text('diff', id, ids.get('unheard') ?? '')
    expect(stdout).toMatch(/^Tokens in +4,000 +4,000$/m)
    expect(stdout).toMatch(/^Cost +\$0\.02 +\* \$0\.50$/m)
    expect(stdout).toMatch(/^\* as its source states it/m)
  })

  it('leaves the cost of every session in list --json a cost, also where it is not known', async () => {
    const all = await rows()
    const costs = new Map(named(all).map((name, at) => [name, all[at]?.cost]))
    expect(costs.get('priced')).toEqual({ usd: '0.015000', unpriced: [] })
    expect(costs.get('unheard')).toEqual({ usd: null, unpriced: ['nobody/unheard-of'] })
    expect(costs.get('uncounted')).toEqual({ usd: null, unpriced: [] })
  })
})
