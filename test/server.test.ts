/** The API on a real port: its answers, and that nothing leaves with a secret in it. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { createApp, createContext } from '../src/server/app.ts'
import type { SearchAnswer, SessionsAnswer, Health } from '../src/server/api.ts'
import { healthSchema, searchSchema, sessionsSchema } from '../src/server/api.ts'
import type { CacheAnswer, CostAnswer, StatsAnswer, TopAnswer } from '../src/server/api-cost.ts'
import { sync } from '../src/sources/sync.ts'
import { log, SECRET, serveSample, type Served } from './serving.ts'

let served: Served
beforeAll(async () => void (served = await serveSample()))
afterAll(() => served.close())

describe('the API', () => {
  it('says that it is well, and what it is of', async () => {
    const health = healthSchema.parse(await served.json<Health>('/api/v1/health'))
    expect(health).toMatchObject({ status: 'ok', sessions: 2, readOnly: true, home: served.archive.home })
  })

  it('lists sessions as the command line does, with what a page shows besides', async () => {
    const answer = sessionsSchema.parse(await served.json<SessionsAnswer>('/api/v1/sessions'))
    expect(answer.total).toBe(2)
    const row = answer.sessions.find(({ prompt, title }) => (title ?? prompt) === 'fix the login')
    expect(row).toMatchObject({ project: 'Shop', branch: 'main', entries: 6, models: ['claude-sonnet-4-5'] })
    expect(row?.activity?.counts.reduce((sum, count) => sum + count, 0)).toBe(6)
    expect(row?.cost?.usd).toMatch(/^0\.\d+$/)
  })

  it('counts what sessions can be narrowed down by, as it is written', async () => {
    const { facets } = await served.json<SessionsAnswer>('/api/v1/sessions')
    expect(facets.project).toEqual([{ value: '/work/Shop', count: 2 }])
    expect(facets.branch).toEqual([{ value: 'main', count: 2 }])
    const narrowed = await served.json<SessionsAnswer>('/api/v1/sessions?q=login')
    expect([narrowed.total, narrowed.facets.branch]).toEqual([1, [{ value: 'main', count: 1 }]])
  })

  it('gives pages that go on where the one before ended', async () => {
    const first = await served.json<SessionsAnswer>('/api/v1/sessions?limit=1')
    const second = await served.json<SessionsAnswer>(`/api/v1/sessions?limit=1&after=${first.next}`)
    expect(new Set([...first.sessions, ...second.sessions].map(({ id }) => id)).size).toBe(2)
    expect(second.next).toBeUndefined()
  })

  it('finds what was said, and says where', async () => {
    const answer = searchSchema.parse(await served.json<SearchAnswer>('/api/v1/search?q=login'))
    expect(answer.hits.length).toBeGreaterThan(0)
    expect(answer.hits[0]?.snippet).toContain('login')
    const { start = 0, end = 0 } = answer.hits[0]?.marks?.[0] ?? {}
    expect(answer.hits[0]?.snippet?.slice(start, end)).toBe('login')
  })

  it('says why nothing was found', async () => {
    const answer = await served.json<SearchAnswer>('/api/v1/search?q=logim')
    expect(answer).toMatchObject({ hits: [], searched: { sessions: 2 } })
  })

  it('adds up costs by what is asked for, of the sessions that are asked for', async () => {
    const all = await served.json<CostAnswer>('/api/v1/cost?by=model')
    expect(all.rows).toMatchObject([{ key: 'claude-sonnet-4-5', calls: 5 }])
    const some = await served.json<CostAnswer>('/api/v1/cost?by=day&q=login&utc=true')
    expect(some.rows.map(({ key, calls }) => [key, calls])).toEqual([
      ['2026-11-01', 1],
      ['2026-11-02', 1],
      ['2026-11-03', 1],
    ])
  })

  it('names the dearest, and how much came from caches', async () => {
    const top = await served.json<TopAnswer>('/api/v1/cost/top?limit=3')
    expect([top.sessions.length, top.calls.length]).toEqual([2, 3])
    const cache = await served.json<CacheAnswer>('/api/v1/cost/cache?utc=true')
    expect(cache.total.rate).toBe(0.75)
  })

  it('says what sessions come to', async () => {
    const stats = await served.json<StatsAnswer>('/api/v1/stats')
    expect(stats).toMatchObject({ sessions: 2, totals: { entries: 10, calls: 5 } })
  })

  it('says what is wrong with a question', async () => {
    const { status, text } = await served.get('/api/v1/sessions?limit=0')
    expect([status, JSON.parse(text)]).toMatchObject([400, { error: { code: 'invalid-argument' } }])
    for (const path of [
      '/api/v1/sessions?sort=nope',
      '/api/v1/sessions?q=since:nope',
      '/api/v1/search',
      '/api/v1/cost?by=nope',
      '/api/v1/sessions?after=nope',
    ])
      expect((await served.get(path)).status, path).toBe(400)
  })

  it('knows no other paths', async () => {
    const { status, text } = await served.get('/api/v1/nope')
    expect([status, JSON.parse(text)]).toMatchObject([404, { error: { code: 'not-found' } }])
  })

  it('lets no secret out of what was said', async () => {
    expect((await served.get('/api/v1/sessions')).text).toContain('the key is')
    await expectNoSecret(served)
  })
})

describe('a secret in any field', () => {
  it('does not leave, by answer or by event', async () => {
    const hostile = await serveSample({ follow: true })
    const frames: string[] = []
    hostile.server.context.hub.listen({ frame: (text) => frames.push(text), end: () => {} })
    const id = '44444444-4444-4444-8444-444444444444'
    const call = {
      type: 'tool_use',
      id: 'call-1',
      name: `Tool_${SECRET}`,
      input: { file_path: `/tmp/${SECRET}` },
    }
    const text = log(id, `tell nobody ${SECRET}`, 2)
      .replaceAll('/work/Shop', `/work/${SECRET}`)
      .replaceAll('"gitBranch":"main"', `"gitBranch":"${SECRET}"`)
      .replaceAll('claude-sonnet-4-5', `model-${SECRET}`)
      .replaceAll('[{"type":"text"', `[${JSON.stringify(call)},{"type":"text"`)
    fs.writeFileSync(join(hostile.logs, `${id}.jsonl`), text)
    await expect.poll(() => frames.some((frame) => frame.includes('event: session'))).toBe(true)
    expect(frames.join('')).toContain('tell nobody')
    expect(frames.filter(hasSecret)).toEqual([])
    const { facets, total } = await hostile.json<SessionsAnswer>('/api/v1/sessions')
    expect([total, facets.branch.length, facets.model.length]).toEqual([3, 2, 2])
    await expectNoSecret(hostile)
    await hostile.close()
  })
})

const hasSecret = (text: string): boolean => text.includes(SECRET.slice(13, 53))

async function expectNoSecret(given: Served): Promise<void> {
  const grouped = ['session', 'model', 'project', 'tool', 'agent', 'source'].map((by) => `/cost?by=${by}`)
  const searches = ['key', 'nobody', 'done', 'tool:*'].map((q) => `/search?q=${q}`)
  for (const path of [
    '/sessions',
    '/cost/top',
    '/cost/cache',
    '/stats',
    '/health',
    ...grouped,
    ...searches,
  ]) {
    const { status, text } = await given.get(`/api/v1${path}`)
    expect([status, hasSecret(text)], path).toEqual([200, false])
  }
}

describe('a state that another process builds anew', () => {
  it('is what is then asked', async () => {
    const other = await serveSample()
    expect((await other.json<SessionsAnswer>('/api/v1/sessions')).total).toBe(2)
    fs.writeFileSync(
      join(other.logs, 'more.jsonl'),
      log('55555555-5555-4555-8555-555555555555', 'a third', 1),
    )
    fs.rmSync(join(other.archive.home, 'index'), { recursive: true })
    await sync(other.archive, { paths: [other.logs] })
    expect((await other.json<SessionsAnswer>('/api/v1/sessions')).total).toBe(3)
    await other.close()
  })

  it('and that is not there yet, has no sessions', async () => {
    const home = fs.mkdtempSync(join(os.tmpdir(), 'hansard-empty-'))
    const archive = openArchive(join(home, 'a'), { write: true })
    const context = createContext(archive)
    const app = createApp(context)
    for (const path of ['sessions', 'stats', 'cost', 'cost/top', 'cost/cache', 'search?q=x', 'health'])
      expect((await app.request(`/api/v1/${path}`)).status, path).toBe(200)
    context.close()
    fs.rmSync(home, { recursive: true })
  })
})
