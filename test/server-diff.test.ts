/** Two sessions compared over HTTP: without secrets, each difference with the entries it is in. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DiffAnswer } from '../src/server/api-diff.ts'
import type { EntryRow, SessionsAnswer } from '../src/server/api.ts'
import { SECRET, serveSample, type Served } from './serving.ts'

let served: Served
let [first, second] = ['', '']
beforeAll(async () => {
  served = await serveSample()
  const { sessions } = await served.json<SessionsAnswer>('/api/v1/sessions')
  const idOf = (start: string): string =>
    sessions.find(({ prompt = '' }) => prompt.startsWith(start))?.id ?? ''
  ;[first, second] = [idOf('fix the login'), idOf('the key is')]
})
afterAll(() => served.close())

const compare = (a: string, b: string): Promise<DiffAnswer> =>
  served.json<DiffAnswer>(`/api/v1/diff?a=${a}&b=${b}`)

describe('two sessions compared', () => {
  it('say where they part, and what each came to', async () => {
    const answer = await compare(first, second)
    expect(answer.isSame).toBe(false)
    expect(answer.changes[0]).toMatchObject({ type: 'changed', what: 'prompt', a: { position: 0 } })
    expect(answer.a.row.id).toBe(first)
    expect(answer.a.entries).toBeGreaterThan(answer.b.entries)
    expect(answer.changes.length).toBe(Object.values(answer.counts).reduce((sum, one) => sum + one, 0))
  })

  it('name entries by the positions that the page has', async () => {
    const { changes } = await compare(first, second)
    for (const { a, b } of changes)
      for (const [id, spot] of [[first, a] as const, [second, b] as const]) {
        if (spot === undefined) continue
        const row = await served.json<EntryRow>(`/api/v1/sessions/${id}/entries/${spot.position}`)
        expect(row.citation).toBe(spot.citation)
      }
  })

  it('tell no secret', async () => {
    const { text } = await served.get(`/api/v1/diff?a=${first}&b=${second}`)
    expect(text).toContain('the key is')
    expect(text).not.toContain(SECRET.slice(0, 40))
  })

  it('are the same where it is one session', async () => {
    const answer = await compare(second, second)
    expect(answer).toMatchObject({ isSame: true, changes: [], files: [], turns: [] })
  })

  it('are both there, and named by as much of their ids as tells them apart', async () => {
    expect((await served.get(`/api/v1/diff?a=${first}&b=nobody`)).status).toBe(404)
    expect((await served.get(`/api/v1/diff?a=${first}`)).status).toBe(400)
    expect((await compare(first.slice(0, -1), second.slice(0, -1))).b.row.id).toBe(second)
  })
})
