import fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { record } from '../src/capture/record.ts'
import type {
  EntriesAnswer,
  EntryRow,
  FindAnswer,
  OutlineAnswer,
  RawAnswer,
  SessionAnswer,
  SessionsAnswer,
} from '../src/server/api.ts'
import type { InsightAnswer } from '../src/server/api-cost.ts'
import { outlineFolder, outlineName } from '../src/search/outline-files.ts'
import { openOutlines } from '../src/search/outline.ts'
import { qualityOfCall } from '../src/replay/call-bytes.ts'
import { deleteKept } from '../src/sources/clean-kept.ts'
import { openSessions } from '../src/sources/sessions.ts'
import { peekState } from '../src/sources/state.ts'
import { sync } from '../src/sources/sync.ts'
import type { Entry } from '../src/transcript/entry.ts'
import { KIND_FLAGS, roleOfKind } from '../src/transcript/kinds.ts'
import type { Usage } from '../src/transcript/usage.ts'
import { FIRST, log, SECOND, SECRET, serveSample, type Served } from './serving.ts'

let served: Served
let ids: Map<string, string>

async function list(): Promise<Map<string, string>> {
  const { sessions } = await served.json<SessionsAnswer>('/api/v1/sessions')
  const found = new Map<string, string>()
  for (const { id } of sessions) {
    const { session } = await served.json<SessionAnswer>(`/api/v1/sessions/${id}`)
    found.set(session.native?.sessionId ?? session.title ?? '', id)
  }
  return found
}

beforeAll(async () => {
  served = await serveSample()
  ids = await list()
})
afterAll(() => served.close())

const of = (name: string): string => `/api/v1/sessions/${ids.get(name) ?? name}`

async function shown(id: string): Promise<readonly Entry[]> {
  const sessions = await openSessions(served.archive.home)
  const entries: Entry[] = []
  for await (const items of sessions.read(sessions.find(id)))
    for (const item of items) if (item.type === 'entry') entries.push(item.entry)
  sessions.close()
  return entries
}

describe('a session', () => {
  it('is served entry by entry as show prints it, with its citations', async () => {
    for (const id of ids.values()) {
      const { entries, length } = await served.json<EntriesAnswer>(`/api/v1/sessions/${id}/entries`)
      const expected = await shown(id)
      expect(length).toBe(expected.length)
      expect(entries.map(({ entry }) => entry)).toEqual(JSON.parse(JSON.stringify(expected)))
      expect(entries.map(({ citation }) => citation)).toEqual(expected.map((_, at) => `${id}#${at}`))
      const one = await served.json<EntryRow>(`/api/v1/sessions/${id}/entries/1`)
      expect(one).toEqual(entries[1])
    }
  })

  it('says what it is, and how long', async () => {
    const { session, row, length, sources, outline } = await served.json<SessionAnswer>(of(FIRST))
    expect([session.id, row.id]).toEqual([ids.get(FIRST), ids.get(FIRST)])
    expect(sources).toEqual([{ source: 'primary', entries: length }])
    expect(outline).toEqual({ state: 'ready', entries: length })
  })

  it('has an outline in columns', async () => {
    const answer = await served.json<OutlineAnswer>(`${of(FIRST)}/outline`)
    const bytes = Buffer.from(answer.kinds, 'base64')
    const kinds = Array.from({ length: answer.to }, (_, at) => bytes.readUInt16LE(at * 2))
    const entries = await shown(ids.get(FIRST) ?? '')
    expect(kinds.map(roleOfKind)).toEqual(entries.map(({ role }) => role))
    expect((kinds[0] ?? 0) & KIND_FLAGS.prompt).not.toBe(0)
    const times = Buffer.from(answer.times, 'base64')
    expect(times.readDoubleLE(0)).toBe(Date.parse(entries[0]?.at ?? ''))
    const part = await served.json<OutlineAnswer>(`${of(FIRST)}/outline?from=1&to=2`)
    expect(Buffer.from(part.kinds, 'base64')).toEqual(bytes.subarray(2, 4))
  })

  it('costs at each entry what has been used until then', async () => {
    const { entries } = await served.json<EntriesAnswer>(`${of(FIRST)}/entries`)
    const { row } = await served.json<SessionAnswer>(of(FIRST))
    const last = entries.at(-1)
    expect(last?.running?.usd).toBe(row.cost?.usd)
    expect(last?.usageTotal?.output).toBe(row.usage?.output)
    const sum = entries.reduce((all, { cost }) => all + Number(cost?.usd ?? 0), 0)
    expect(sum).toBeCloseTo(Number(row.cost?.usd), 4)
  })

  it('is as sure of its sums at each entry as of the whole, when they are all of it', async () => {
    const session = await record({ home: served.archive.home, title: 'sure', model: 'claude-sonnet-4-5' })
    const said = (messageId: string, usage?: Omit<Usage, 'raw'>): void =>
      session.assistant('an answer', { call: { messageId }, ...(usage && { usage }) })
    session.user('a question')
    said('a', { input: 10, output: 1, quality: 'partial' })
    said('a', { input: 10, output: 9, quality: 'reported' })
    said('b')
    said('c', { output: 5, quality: 'estimated' })
    const { id } = await session.end()
    await sync(served.archive, { paths: [join(served.logs, '..', '..')] })
    const { entries } = await served.json<EntriesAnswer>(`/api/v1/sessions/${id}/entries`)
    expect(entries.map(({ usageTotal, uncountedTotal }) => [usageTotal?.quality, uncountedTotal])).toEqual([
      [undefined, undefined],
      ['partial', undefined],
      ['reported', undefined],
      ['partial', 1],
      ['estimated', 1],
    ])
    expect(entries[3]?.cost).toEqual({ usd: null, unpriced: [] })
    const { row } = await served.json<SessionAnswer>(`/api/v1/sessions/${id}`)
    expect([entries.at(-1)?.usageTotal, entries.at(-1)?.uncountedTotal]).toEqual([row.usage, row.uncounted])
    const { calls, to } = await served.json<OutlineAnswer>(`/api/v1/sessions/${id}/outline`)
    const bytes = Buffer.from(calls, 'base64')
    expect([bytes.length, ...[...bytes].map(qualityOfCall)]).toEqual([
      to,
      undefined,
      'partial',
      'reported',
      undefined,
      'estimated',
    ])
  })

  it('gives away no secret, by no path', async () => {
    const { length } = await served.json<SessionAnswer>(of(SECOND))
    const paths = [
      '',
      '/entries',
      '/outline',
      '/tree',
      '/insight',
      '/find?q=key',
      '/export?as=html',
      '/export?as=md',
      '/export?as=json',
      ...Array.from({ length }, (_, at) => [`/entries/${at}`, `/entries/${at}/raw`]).flat(),
    ]
    for (const path of paths) {
      const { status, text } = await served.get(`${of(SECOND)}${path}`)
      expect(status, path).toBe(200)
      expect(text, path).not.toContain(SECRET)
      expect(text, path).not.toContain(SECRET.slice(13, 60))
    }
  })

  it('gives the record of an entry as it lies', async () => {
    const raw = await served.json<RawAnswer>(`${of(FIRST)}/entries/0/raw`)
    const lines = log(FIRST, 'fix the login', 3).split('\n')
    expect(raw.text).toBe(lines[0])
    expect(raw.byteOffset).toBe(0)
  })

  it('finds words by position, and what it did', async () => {
    const { positions, total } = await served.json<FindAnswer>(`${of(FIRST)}/find?q=login`)
    expect(positions[0]).toBe(0)
    expect(total).toBe(positions.length)
    const entries = await shown(ids.get(FIRST) ?? '')
    const none = await served.json<FindAnswer>(`${of(FIRST)}/find?q=nowhereatall`)
    expect(none).toEqual({ positions: [], total: 0 })
    const insight = await served.json<InsightAnswer>(`${of(FIRST)}/insight`)
    const said = entries.filter(({ usage }) => usage !== undefined)
    expect(insight.context).toHaveLength(said.length)
    expect(insight.fills.length).toBeGreaterThan(0)
    const place = await served.json<{ position: number }>(`${of(FIRST)}/position?sequence=2`)
    expect(place.position).toBe(2)
  })

  it('refuses what is not there, too much or nonsense, and says why', async () => {
    const cases: readonly (readonly [string, number, string])[] = [
      [`/api/v1/sessions/ffffffff-0000`, 404, 'session-not-found'],
      [`/api/v1/sessions/..%2f..%2fetc`, 400, 'unsafe-path'],
      [`${of(FIRST)}/entries/99999`, 404, 'not-found'],
      [`${of(FIRST)}/entries/-1`, 404, 'not-found'],
      [`${of(FIRST)}/entries/1e3`, 404, 'not-found'],
      [`${of(FIRST)}/entries?from=0&to=201`, 400, 'invalid-argument'],
      [`${of(FIRST)}/entries?from=x`, 400, 'invalid-argument'],
      [`${of(FIRST)}/position?sequence=77`, 404, 'not-found'],
      [`/api/v1/blobs/${'0'.repeat(64)}`, 404, 'not-found'],
      [`/api/v1/blobs/..%2f..%2fetc%2fpasswd`, 400, 'unsafe-path'],
    ]
    for (const [path, status, code] of cases) {
      const reply = await served.get(path)
      expect([reply.status, JSON.parse(reply.text).error?.code], path).toEqual([status, code])
    }
    expect((await served.json<EntriesAnswer>(`${of(FIRST)}/entries?from=500&to=600`)).entries).toEqual([])
  })

  it('is there in full though one entry is fifty megabytes, which a range gives the beginning of', async () => {
    const recorder = await record({ home: served.archive.home, durability: 'os', title: 'large' })
    recorder.user('before')
    recorder.user('x'.repeat(50_000_000))
    recorder.user('after')
    await recorder.end()
    const sessions = await openSessions(served.archive.home)
    const id = sessions.list({}).sessions.find(({ title }) => title === 'large')?.id ?? ''
    sessions.close()
    const { text } = await served.get(`/api/v1/sessions/${id}/entries`)
    expect(text.length).toBeLessThan(200_000)
    const { entries } = JSON.parse(text) as EntriesAnswer
    const large = entries.find(({ cut }) => cut !== undefined)
    expect(Object.values(large?.cut ?? {})).toEqual([50_000_000])
    expect(entries.length).toBeGreaterThanOrEqual(3)
    const whole = await served.json<EntryRow>(`/api/v1/sessions/${id}/entries/${large?.position}`)
    const [block] = whole.entry.blocks
    expect(block?.type === 'text' && typeof block.text === 'string' && block.text.length).toBe(50_000_000)
  })

  it('is right while it grows, and not there any more when it is deleted', async () => {
    const path = join(served.logs, `${FIRST}.jsonl`)
    for (let turns = 4; turns < 7; turns += 1) {
      fs.writeFileSync(path, log(FIRST, 'fix the login', turns))
      await sync(served.archive, { paths: [join(served.logs, '..', '..')] })
      const { entries } = await served.json<EntriesAnswer>(`${of(FIRST)}/entries`)
      expect(entries.map(({ entry }) => entry)).toEqual(
        JSON.parse(JSON.stringify(await shown(ids.get(FIRST) ?? ''))),
      )
    }
    const outlines = outlineFolder(served.archive.home)
    const name = outlineName(ids.get(FIRST) ?? '')
    expect(fs.readdirSync(outlines).some((file) => file.startsWith(name))).toBe(true)
    await deleteKept(served.archive, [ids.get(FIRST) ?? ''], {
      at: '2026-12-01T00:00:00.000Z',
      reason: 'clean',
    })
    const state = await peekState(served.archive)
    if (state !== undefined) openOutlines(served.archive).prune(state.database)
    state?.close()
    expect(fs.readdirSync(outlines).some((file) => file.startsWith(name))).toBe(false)
    const reply = await served.get(`${of(FIRST)}/entries`)
    expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([404, 'session-not-found'])
  })
})
