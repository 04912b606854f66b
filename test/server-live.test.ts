/** Live events over real connections: what is appended is told, who comes back misses nothing, and a thousand listen at once. */
import fs from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { record } from '../src/capture/record.ts'
import type { SessionRow } from '../src/server/api-model.ts'
import { liveSchemas, type LiveEventName } from '../src/server/api-live.ts'
import { deleteKept } from '../src/sources/clean-kept.ts'
import { FIRST, log, serveSample, type Served } from './serving.ts'

const LONG = 'cccccccc-0000-4000-8000-00000000000c'

let served: Served
beforeAll(async () => void (served = await serveSample({ follow: true })))
afterAll(() => served.close())

type Told = { readonly id: string; readonly name: string; readonly data: unknown }

type Ear = {
  readonly told: readonly Told[]
  lastId(): string
  /** Waits for an event; fails after some seconds. */
  until(isIt: (told: Told) => boolean): Promise<Told>
  close(): void
}

function hear(since?: string): Promise<Ear> {
  return new Promise((resolve, reject) => {
    const { port, token } = served.server
    const headers = {
      authorization: `Bearer ${token}`,
      ...(since !== undefined && { 'last-event-id': since }),
    }
    const request = http.get(
      { host: '127.0.0.1', port, path: '/api/v1/live', headers, agent: false },
      (response) => {
        const told: Told[] = []
        const waiting = new Set<() => void>()
        let [text, lastId] = ['', '']
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
          const frames = text.split('\n\n')
          text = frames.pop() ?? ''
          for (const frame of frames) {
            const fields = new Map(
              frame
                .split('\n')
                .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
            )
            lastId = fields.get('id') ?? lastId
            const name = fields.get('event')
            if (name !== undefined)
              told.push({ id: lastId, name, data: JSON.parse(fields.get('data') ?? 'null') })
          }
          for (const look of waiting) look()
        })
        response.once('data', () =>
          resolve({
            told,
            lastId: () => lastId,
            until: (isIt) =>
              new Promise((found, late) => {
                const timer = setTimeout(
                  () => late(new Error(`not told: ${JSON.stringify(told).slice(0, 500)}`)),
                  5000,
                )
                const look = (): void => {
                  const one = told.find(isIt)
                  if (one === undefined) return
                  clearTimeout(timer)
                  waiting.delete(look)
                  found(one)
                }
                waiting.add(look)
                look()
              }),
            close: () => request.destroy(),
          }),
        )
      },
    )
    request.on('error', reject)
  })
}

const isOf =
  (name: LiveEventName, test: (data: { [key: string]: unknown }) => boolean = () => true) =>
  (told: Told): boolean =>
    told.name === name && test(told.data as { [key: string]: unknown })

describe('who listens', () => {
  it('is told of a long session that grows, also when no more than what was added is read', async () => {
    const path = join(served.logs, `${LONG}.jsonl`)
    const lines = log(LONG, 'go on', 400).trimEnd().split('\n')
    const first = lines.slice(0, 40).map((line) => line.replace('{', `{"pad":"${'x'.repeat(150_000)}",`))
    const ear = await hear()
    fs.writeFileSync(path, `${first.join('\n')}\n`)
    const has = (entries: number): ((told: Told) => boolean) =>
      isOf('session', ({ row }) => (row as SessionRow).entries === entries)
    await ear.until(has(40))
    // The first of these are read with the whole, until it is prepared.
    const isReadOn = (): boolean =>
      ear.told
        .filter(isOf('sync', ({ state }) => state === 'done'))
        .some(isOf('sync', ({ entries }) => entries === 1))
    let n = 40
    const grow = async (): Promise<void> => {
      fs.appendFileSync(path, `${lines[n]}\n`)
      n += 1
      await ear.until(has(n))
    }
    for (let tries = 0; tries < 60 && !isReadOn(); tries += 1) {
      await grow()
      await wait(300)
    }
    expect(isReadOn()).toBe(true)
    for (let more = 0; more < 3; more += 1) await grow()
    ear.close()
  })

  it('is told of a session that grows', async () => {
    const ear = await hear()
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const longer = log(FIRST, 'fix the login', 4).split('\n').slice(6).join('\n')
    fs.appendFileSync(join(served.logs, `${FIRST}.jsonl`), longer)
    const { data } = await ear.until(isOf('entries', ({ length }) => length === 8))
    expect(liveSchemas.entries.parse(data).length).toBe(8)
    const row = await ear.until(isOf('session'))
    expect(liveSchemas.session.parse(row.data)).toMatchObject({ isNew: false, row: { entries: 8 } })
    ear.close()
  })

  it('is told of a new session', async () => {
    const ear = await hear()
    const id = '33333333-3333-4333-8333-333333333333'
    fs.writeFileSync(join(served.logs, `${id}.jsonl`), log(id, 'write the tests', 1))
    const { data } = await ear.until(isOf('session'))
    expect(data).toMatchObject({ isNew: true, row: { prompt: 'write the tests' } })
    ear.close()
  })

  it('is told of what is recorded into the archive, as it is', async () => {
    const ear = await hear()
    const recorder = await record({
      home: served.archive.home,
      agent: 'mine',
      title: 'a live one',
      cwd: served.logs,
    })
    recorder.user('hello')
    await ear.until(
      isOf('session', ({ isNew, row }) => isNew === true && (row as SessionRow).title === 'a live one'),
    )
    for (const known of [1, 2]) {
      recorder.user(`are you there, ${known}?`)
      await ear.until(isOf('entries', ({ id, length }) => id === recorder.id && length === known + 1))
    }
    await recorder.end()
    await ear.until(
      isOf(
        'session',
        ({ row }) => (row as SessionRow).status === 'completed' && (row as SessionRow).id === recorder.id,
      ),
    )
    ear.close()
  })

  it('is told of a session that is deleted', async () => {
    const ear = await hear()
    const { sessions } = await served.json<{ sessions: readonly SessionRow[] }>(
      '/api/v1/sessions?q=agent:claude-code',
    )
    const id = sessions.find(({ prompt }) => prompt === 'write the tests')?.id ?? ''
    await deleteKept(served.archive, [id], { at: '2026-11-15T10:00:00.000Z', reason: 'clean' })
    const { data } = await ear.until(isOf('gone'))
    expect(data).toEqual({ id })
    ear.close()
  })

  it('and comes back is told what was missed, each once and in order', async () => {
    const { hub } = served.server.context
    const first = await hear()
    const since = first.lastId()
    first.close()
    for (let bytes = 1; bytes <= 50; bytes += 1) hub.tell('index', { state: 'running', bytes, of: 50 })
    const again = await hear(since)
    hub.tell('index', { state: 'done' })
    await again.until(isOf('index', ({ state }) => state === 'done'))
    const numbers = again.told
      .filter(isOf('index', ({ state }) => state === 'running'))
      .map(({ data }) => (data as { bytes: number }).bytes)
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, at) => at + 1))
    expect(again.told.some(({ name }) => name === 'reset')).toBe(false)
    again.close()
  })

  it('and was away too long, or at another server, begins anew', async () => {
    const { hub } = served.server.context
    const first = await hear()
    const since = first.lastId()
    first.close()
    for (let bytes = 0; bytes < 1100; bytes += 1) hub.tell('index', { state: 'running', bytes, of: 1100 })
    for (const from of [since, 'abc-5', `${since}999`, 'nonsense', '']) {
      const ear = await hear(from)
      await ear.until(isOf('reset'))
      expect(ear.told).toHaveLength(1)
      ear.close()
    }
  })

  it('and does not read is let go', async () => {
    const { hub } = served.server.context
    const { port, token } = served.server
    const headers = { authorization: `Bearer ${token}` }
    const request = http.get({ host: '127.0.0.1', port, path: '/api/v1/live', headers, agent: false })
    const response = await new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve))
    response.pause()
    request.on('error', () => {})
    response.on('error', () => {})
    const message = 'x'.repeat(100_000)
    for (let times = 0; times < 400 && hub.listeners > 0; times += 1) {
      hub.tell('index', { state: 'failed', message })
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(hub.listeners).toBe(0)
    request.destroy()
  })

  it('is told with a thousand others', async () => {
    const { hub } = served.server.context
    const ears = await Promise.all(Array.from({ length: 1000 }, () => hear()))
    expect(hub.listeners).toBe(1000)
    for (const round of [1, 2]) {
      hub.tell('sync', { state: 'done', sessions: round, entries: 1 })
      await Promise.all(ears.map((ear) => ear.until(isOf('sync', ({ sessions }) => sessions === round))))
    }
    for (const ear of ears) ear.close()
  })
})
