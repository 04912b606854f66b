import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import v8 from 'node:v8'
import { afterAll, describe, expect, it } from 'vitest'
import { claudeLogs } from '../../test/machine.ts'
import { runUnitJob, type UnitJob } from './read-unit.ts'
import { createThreads } from './reader-threads.ts'
import type { Readers } from './readers.ts'
import type { Taker } from './unit-pass.ts'

const base = fs.mkdtempSync(join(tmpdir(), 'hansard-threads-'))
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

const root = join(base, 'projects')
fs.mkdirSync(root)
fs.writeFileSync(
  join(root, 'short.jsonl'),
  claudeLogs(6, { session: '11111111-1111-4111-8111-111111111111' }),
)
fs.writeFileSync(join(root, 'other.jsonl'), '{"no":"log"}\n')
fs.writeFileSync(
  join(root, 'batches.jsonl'),
  claudeLogs(1500, { session: '22222222-2222-4222-8222-222222222222' }),
)

/** A thread that reads nothing: it says which one it is, or nothing at all. */
function script(body: string): URL {
  const path = join(base, `${body.length}.mjs`)
  fs.writeFileSync(path, `import { parentPort, threadId } from 'node:worker_threads'\n${body}`)
  return pathToFileURL(path)
}
const SILENT = script('parentPort.on("message", () => {})')
const SAYS_WHICH = script(
  'const result = { type: "unknown", looks: `thread ${threadId}` }\n' +
    'parentPort.on("message", () => setTimeout(() => parentPort.postMessage({ read: { result, bills: new Map() } }), 20))',
)

const job = (more: Partial<UnitJob> = {}): UnitJob => ({
  home: join(base, 'home'),
  agent: 'claude-code',
  root,
  unit: 'short.jsonl',
  paths: ['short.jsonl'],
  isKept: false,
  bytes: 3000,
  ...more,
})
const LONG = job({ bytes: 3 * 1024 * 1024 })
const IGNORE: Taker = { calls() {}, sessions() {} }

/** What each was read as, and by which thread. */
async function readAll(readers: Readers, jobs: readonly UnitJob[]): Promise<readonly string[]> {
  const read = await Promise.all(jobs.map((one) => readers.read(one, IGNORE)))
  return read.map(({ result }) => (result.type === 'unknown' ? result.looks : result.type))
}

it('reads a short log itself where its thread has enough before it, and answers as a thread does', async () => {
  const readers = createThreads(SILENT, 2)
  const waiting = Array.from({ length: 9 }, () => readers.read(job(), IGNORE))
  const calls: number[] = []
  const { result, bills } = await readers.read(job(), { ...IGNORE, calls: ({ count }) => calls.push(count) })
  const one = await runUnitJob(job(), () => {})
  expect(result).toEqual(one)
  expect(calls).toEqual([3])
  expect([...bills.values()].map((bill) => bill?.sums['calls'])).toEqual([3])
  expect(await Promise.race([...waiting, Promise.resolve('none of them is read')])).toBe(
    'none of them is read',
  )
  await readers.close()
})

it('needs one thread for short logs, and starts another for what is long or no log that it can read here', async () => {
  const threads = async (jobs: readonly UnitJob[]): Promise<number> => {
    const readers = createThreads(SAYS_WHICH, 2)
    const read = await readAll(readers, jobs)
    await readers.close()
    return new Set(read.filter((who) => who.startsWith('thread'))).size
  }
  const short = Array.from({ length: 30 }, () => job())
  expect(await threads(short)).toBe(1)
  expect(await threads([LONG, LONG])).toBe(2)
  expect(await threads([job({ isKept: true }), job({ isKept: true })])).toBe(2)
  expect(await threads(short.map((one) => ({ ...one, unit: 'other.jsonl', paths: ['other.jsonl'] })))).toBe(2)
})

it('fails a unit that cannot be taken, and reads the next one here as before', async () => {
  const readers = createThreads(SILENT, 2)
  for (let n = 0; n < 9; n += 1) void readers.read(job(), IGNORE)
  const full: Taker = {
    ...IGNORE,
    calls() {
      throw new Error('no room')
    },
  }
  await expect(readers.read(job(), full)).rejects.toThrow('no room')
  expect(await readAll(readers, [job()])).toEqual(['read'])
  await readers.close()
})

it('fails a unit of which one batch of calls could not be taken, though the next could', async () => {
  const readers = createThreads(SILENT, 2)
  for (let n = 0; n < 9; n += 1) void readers.read(job(), IGNORE)
  let batches = 0
  const full: Taker = {
    ...IGNORE,
    calls() {
      batches += 1
      if (batches === 1) throw new Error('no room')
    },
  }
  const several = job({ unit: 'batches.jsonl', paths: ['batches.jsonl'] })
  await expect(readers.read(several, full)).rejects.toThrow('no room')
  expect(batches).toBe(1)
  await readers.close()
})

it('has V8 compile less from the first unit on, and as ever as soon as it is told to close', async () => {
  // Of all that decides whether what was compiled before may be used.
  const usual = v8.cachedDataVersionTag()
  const listeners = process.listenerCount('exit')
  const readers = createThreads(SAYS_WHICH, 2)
  expect(v8.cachedDataVersionTag()).toBe(usual)
  await readers.read(job(), IGNORE)
  expect(v8.cachedDataVersionTag()).not.toBe(usual)
  const closed = readers.close()
  expect(v8.cachedDataVersionTag()).toBe(usual)
  await closed
  expect(process.listenerCount('exit')).toBe(listeners)
})

it('reads nothing once it is closed: no thread is left behind', async () => {
  const readers = createThreads(SAYS_WHICH, 2)
  await readers.close()
  await expect(readers.read(LONG, IGNORE)).rejects.toThrow('closed')
})

describe('where the system has no thread to spare', () => {
  const ENDS = script('parentPort.on("message", () => process.exit(1))')
  const none = new URL('http://no.thread/')

  it('says so at once where it is the first', () => {
    expect(() => createThreads(none, 2)).toThrow()
  })

  it('goes on with the first where it is the second', async () => {
    const changing = new URL(SAYS_WHICH)
    const readers = createThreads(changing, 2)
    changing.href = none.href
    const read = await readAll(readers, [LONG, LONG, LONG])
    expect(new Set(read).size).toBe(1)
    await readers.close()
  })

  it('fails all that wait for one that died, and no other', async () => {
    const changing = new URL(ENDS)
    const readers = createThreads(changing, 1)
    changing.href = none.href
    const read = [readers.read(LONG, IGNORE), readers.read(LONG, IGNORE), readers.read(LONG, IGNORE)]
    const said = await Promise.allSettled(read)
    expect(said.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    await expect(readers.read(LONG, IGNORE)).rejects.toThrow()
    await readers.close()
  })
})
