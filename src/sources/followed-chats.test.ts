import fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Database, openDatabase } from '../sqlite/driver.ts'
import { expectWhole, prepareAll } from '../../test/followed-machine.ts'
import { createMachine, type Machine } from '../../test/machine.ts'
import { followDatabase } from './followed-database.ts'
import { lookAtNext } from './followed-rows.ts'
import { LONG_BYTES } from './followed-units.ts'
import { openState } from './state.ts'
import { openStateFiles } from './state-files.ts'
import { toFollowed } from './sync-read-followed.ts'
import type { SyncReport } from './sync.ts'

const PATH = '.config/Cursor/User/globalStorage/state.vscdb'
const SCHEMA = `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
  CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
  CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
  INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'a secret')`

let machine: Machine
let database: Database
/** Goes up with each row. */
let n = 0
beforeEach(async () => {
  machine = createMachine()
  fs.mkdirSync(join(machine.user, PATH, '..'), { recursive: true })
  database = await openDatabase(join(machine.user, PATH))
  database.exec(SCHEMA)
  n = 0
})
afterEach(() => {
  vi.useRealTimers()
  database.close()
  fs.rmSync(machine.base, { recursive: true, force: true })
})

const follow = (): Promise<SyncReport> => machine.sync({ isFollowing: true })
const next = (): number => (n += 1)

type Put = (key: string, value: object | string | null) => void
const toText = (value: object | string | null): string | null =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value

/** As older versions write: under a number of its own. */
const replace: Put = (key, value) =>
  void database.prepare('INSERT INTO cursorDiskKV VALUES (?, ?)').run(key, toText(value))
/** As newer versions write: where the row is. */
const upsert: Put = (key, value) => {
  const sql = 'INSERT INTO cursorDiskKV VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value'
  database.prepare(sql).run(key, toText(value))
}
const puts = [replace, upsert]
const putOf = (at: number): Put => puts[at % puts.length] ?? replace

/** The chat's own row, with what it lists now. */
function chat(id: string, more: object = {}, put: Put = upsert): void {
  const listed = keys(`bubbleId:${id}:`).filter((_, at) => at % 3 < 2)
  const headers = listed.map((key) => ({ bubbleId: key.split(':')[2], type: 1 }))
  const own = { composerId: id, name: `Chat ${id} ${next()}`, createdAt: 1_770_000_000_000 + n }
  put(`composerData:${id}`, { ...own, fullConversationHeadersOnly: headers.toReversed(), ...more })
}
function bubble(of: string, said: object = {}, id = `b${next()}`, put: Put = upsert): string {
  const own = { _v: 3, bubbleId: id, type: n % 2 === 0 ? 1 : 2, createdAt: 1_770_000_000_000 + n }
  const tokenCount = { inputTokens: 20 + n, outputTokens: 150 }
  put(`bubbleId:${of}:${id}`, { ...own, text: `said ${n}`, tokenCount, ...said })
  return id
}

function keys(prefix: string): readonly string[] {
  const sql = `SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ? || '~' ORDER BY key`
  return database
    .prepare(sql)
    .all(prefix, prefix)
    .map(({ key }) => String(key))
}
const one = (all: readonly string[], at: number): string => all[at % all.length] ?? ''
const chatAt = (at: number): string => one(keys('composerData:'), at).slice('composerData:'.length)
/** One with a row of its own, or without. */
const nameAt = (at: number): string => one(keys('bubbleId:'), at).split(':')[1] ?? ''
const bubbleAt = (at: number): readonly [chat: string, bubble: string] => {
  const [, of = '', id = ''] = one(keys('bubbleId:'), at).split(':')
  return [of, id]
}

/**
 * Two chats taken in and prepared, beside rows that are nobody's, in a file that is long enough to be followed: by what they say, or
 * else by a table that is never read, which tells the same in a fraction of the time.
 */
async function longDatabase(by: 'chats' | 'other' = 'other'): Promise<void> {
  for (const id of ['a', 'b']) {
    const text = 'x'.repeat(by === 'chats' ? LONG_BYTES / 40 : 1000)
    for (let at = 0; at < 21; at += 1) bubble(id, { text })
    chat(id)
  }
  if (by === 'other')
    database.exec(`CREATE TABLE other (data BLOB); INSERT INTO other VALUES (zeroblob(${LONG_BYTES}));
      PRAGMA wal_checkpoint(TRUNCATE)`)
  for (let at = 0; at < 200; at += 1) replace(`agentKv:blob:${at}`, { secret: 'x'.repeat(1000) })
  await follow()
  await prepareAll(machine)
}

/** A message that neither is among the last of its chat nor has its chat's row changed with it. */
async function changeUnnoticed(): Promise<void> {
  await longDatabase()
  for (let at = 0; at < 200; at += 1) bubble('m', {}, `m${at}`)
  chat('m')
  await follow()
  await prepareAll(machine)
  bubble('m', { text: 'changed unnoticed' }, 'm1')
  expect((await follow()).sessions).toBe(0)
  expect(keptText().includes('changed unnoticed')).toBe(false)
}

/** Things that Cursor does, each to rows that `at` chooses. */
const CHANGES: readonly ((at: number) => void)[] = [
  (at) => {
    const id = `c${next()}`
    bubble(id, {}, undefined, putOf(at))
    chat(id, {}, putOf(at))
  },
  // One that sorts before others.
  (at) => chat(`A${next()}`, {}, putOf(at)),
  (at) => {
    const id = chatAt(at)
    bubble(id, {}, undefined, putOf(at))
    chat(id, {}, putOf(at))
  },
  (at) => bubble(chatAt(at)),
  (at) => {
    const [of, id] = bubbleAt(at)
    bubble(of, { text: `changed ${next()}` }, id, putOf(at))
  },
  (at) => {
    const [of, id] = bubbleAt(at)
    const tool = {
      name: 'read_file',
      toolCallId: `call_${n}`,
      rawArgs: '{}',
      result: '"done"',
      status: 'error',
    }
    bubble(of, { type: 2, toolFormerData: tool }, id)
    if (keys(`composerData:${of}`).length > 0) chat(of)
  },
  (at) => chat(chatAt(at), { status: 'aborted' }, putOf(at)),
  (at) => database.prepare('DELETE FROM cursorDiskKV WHERE key = ?').run(one(keys('bubbleId:'), at)),
  (at) => {
    if (keys('composerData:').length > 1)
      database.prepare('DELETE FROM cursorDiskKV WHERE key = ?').run(`composerData:${chatAt(at)}`)
  },
  // Whose messages come before its own row, which may never come.
  () => bubble(`lost${next()}`),
  (at) => bubble(nameAt(at)),
  (at) => chat(nameAt(at)),
  // Either side may name the other.
  (at) => {
    const [parent, child] = [chatAt(at), `s${next()}`]
    bubble(child)
    chat(child, at % 2 === 0 ? { subagentInfo: { parentComposerId: parent } } : {})
    if (at % 2 === 1) chat(parent, { subagentComposerIds: [child] })
  },
  (at) => chat(chatAt(at), { subComposerIds: [chatAt(at + 1), nameAt(at)] }, putOf(at)),
  (at) => chat(chatAt(at), { subagentInfo: { parentComposerId: chatAt(at + 1) } }),
  // The same message, and its call, in another chat: one that was copied.
  (at) => {
    const [of, id] = bubbleAt(at)
    for (const name of [of, chatAt(at + 1)]) bubble(name, { type: 2, text: `copied ${next()}` }, id)
  },
  (at) => putOf(at)(one(keys('bubbleId:'), at), 'no json'),
  (at) => putOf(at)(`composerData:${chatAt(at)}`, 'no json'),
  (at) => putOf(at)(`composerData:${chatAt(at)}`, at % 2 === 0 ? null : 'null'),
  // Of a kind that nobody knows.
  (at) => bubble(chatAt(at), { hologram: next() }),
  (at) => replace(`checkpointId:${at}`, { secret: next() }),
]

describe('chats that are followed', () => {
  it('say what reading all of them says, whatever has come to them', async () => {
    await longDatabase()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(CHANGES.length - 1), fc.nat(1000)), { minLength: 1, maxLength: 4 }),
        async (changes) => {
          for (const [change, at] of changes) CHANGES[change]?.(at)
          await follow()
          await expectWhole(machine)
          await prepareAll(machine)
        },
      ),
      // What is there is what the series before it left.
      { numRuns: 5, endOnFailure: true },
    )
  })

  it('are read where rows came to them', async () => {
    await longDatabase('chats')
    for (const [at, change] of CHANGES.entries()) {
      change(at)
      const { sessions, entries } = await follow()
      // All of them would be dozens of entries more.
      expect(sessions, `change ${at}`).toBeLessThan(5)
      expect(entries, `change ${at}`).toBeLessThan(10)
    }
    await expectWhole(machine)
  })

  it('are kept as they are, changed where they are or not, and nothing else is', async () => {
    await longDatabase()
    const id = bubble('a', { text: 'a beginning' })
    chat('a')
    expect(await follow()).toMatchObject({ sessions: 1, entries: 1 })
    bubble('a', { text: 'a beginning, and more' }, id)
    expect((await follow()).sessions).toBe(1)
    bubble('a', { text: 'a beginning, and an end' }, id)
    chat('a', { name: 'Renamed' })
    expect((await follow()).sessions).toBe(1)
    expect((await machine.list()).map(({ title }) => title)).toContain('Renamed')
    const kept = keptText()
    expect(kept).toContain('a beginning, and more')
    expect(kept).toContain('a beginning, and an end')
    expect(kept).not.toContain('secret')
    expect(kept).not.toContain('agentKv')
  })

  it('count what is damaged in them', async () => {
    await longDatabase()
    replace('bubbleId:b:damaged', 'no json')
    expect(await follow()).toMatchObject({ damage: 1, sessions: 1 })
    await expectWhole(machine)
    bubble('b', {}, 'damaged')
    expect(await follow()).toMatchObject({ damage: -1, sessions: 1 })
    await expectWhole(machine)
  })

  it('are read anew when another chat comes to have started them, and no others', async () => {
    await longDatabase()
    for (const id of ['m', 'n', 'o']) {
      bubble(id)
      chat(id)
    }
    await follow()
    chat('o', { subagentComposerIds: ['m'] })
    expect((await follow()).sessions).toBe(2)
    await expectWhole(machine)
    // The first that lists it, in the order of rows: n's is before o's.
    chat('n', { subagentComposerIds: ['m'] })
    expect((await follow()).sessions).toBe(2)
    await expectWhole(machine)
    chat('m', { subagentInfo: { parentComposerId: 'a' } })
    expect((await follow()).sessions).toBe(1)
    await expectWhole(machine)
    chat('n')
    expect((await follow()).sessions).toBe(1)
    await expectWhole(machine)
  })

  it('are kept after a look at all rows where they were changed unnoticed, which waits until nothing is written', async () => {
    await changeUnnoticed()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    const looked = lookAtNext()
    bubble('a')
    await follow()
    expect(await looked).toBe(true)
    // It was not begun, and is still to come.
    bubble('a')
    expect(await follow()).toMatchObject({ sessions: 1 })
    expect(keptText().includes('changed unnoticed')).toBe(false)
    await prepareAll(machine)
    expect(await lookAtNext()).toBe(false)
    bubble('a')
    expect(await follow()).toMatchObject({ sessions: 2 })
    expect(keptText().includes('changed unnoticed')).toBe(true)
    await expectWhole(machine)
  })

  it('that were changed unnoticed are kept by whoever does not follow, though the database is as it was', async () => {
    await changeUnnoticed()
    // Another process, which has nothing to ask by.
    await machine.sync()
    expect(keptText().includes('changed unnoticed')).toBe(true)
    await expectWhole(machine)
    // All of it is known from then on, to both.
    const onPlan = vi.fn()
    for (const isFollowing of [true, false, true]) await machine.sync({ isFollowing, onPlan })
    expect(onPlan).not.toHaveBeenCalled()
  })

  it('that were changed unnoticed are kept after a look, though nothing more is written', async () => {
    await changeUnnoticed()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    await prepareAll(machine)
    expect(await follow()).toMatchObject({ sessions: 1 })
    expect(keptText().includes('changed unnoticed')).toBe(true)
    await expectWhole(machine)
  })

  it('are read beside what else is to be done, until it is to stop', async () => {
    await longDatabase()
    const archive = machine.archive()
    const state = await openState(archive)
    const files = openStateFiles(state.database)
    const known = files.unitAt(1)
    const unit = known && toFollowed(state.database, known, files, archive)
    const followed = unit && (await followDatabase(unit))
    try {
      if (unit === undefined) throw new Error('it is not known')
      const ending = new AbortController()
      setImmediate(() => ending.abort())
      expect(await followed?.more(unit, ending.signal)).toBeUndefined()
      expect(followed?.isSure()).toBe(true)
    } finally {
      await followed?.close()
      state.close()
    }
  })

  it('have a call that several of them mention billed once, whoever comes to mention it or no longer does', async () => {
    await longDatabase()
    for (const id of ['m', 'n', 'o']) {
      bubble(id, { type: 2 })
      chat(id)
    }
    await follow()
    const say = async (of: string, type: 1 | 2): Promise<void> => {
      bubble(of, { type, text: `said ${next()}` }, 'shared')
      chat(of)
      expect((await follow()).sessions).toBe(1)
      await expectWhole(machine)
    }
    for (const of of ['n', 'm', 'o']) await say(of, 2)
    for (const of of ['m', 'o', 'n']) await say(of, 1)
  })

  it('that only their messages name come in the order of these, until they have a row of their own', async () => {
    await longDatabase()
    for (const id of ['z', 'y']) bubble(id)
    expect((await follow()).sessions).toBe(2)
    await expectWhole(machine)
    bubble('x')
    bubble('z')
    expect((await follow()).sessions).toBe(2)
    await expectWhole(machine)
    chat('z')
    expect((await follow()).sessions).toBe(1)
    await expectWhole(machine)
  })

  it.each([
    ['a chat with a colon in its name', () => upsert('composerData:a:b', { name: 'odd' })],
    ['a message of no chat', () => upsert('bubbleId:a', { text: 'odd' })],
    ['a chat without a name', () => bubble('')],
    ['a chat that is not plain', () => bubble('é')],
    [
      'a chat in both tables',
      () => database.exec(`INSERT INTO ItemTable VALUES ('composerData:a', '{"name":"again"}')`),
    ],
  ])('are read whole with %s', async (_, change) => {
    await longDatabase()
    change()
    expect((await follow()).entries).toBeGreaterThan(40)
    await expectWhole(machine)
    await prepareAll(machine)
    bubble('b')
    expect((await follow()).entries).toBeGreaterThan(40)
    await expectWhole(machine)
  })
})

function keptText(): string {
  const kept = join(machine.home, 'kept')
  const all = fs.readdirSync(kept, { recursive: true }).map((name) => join(kept, String(name)))
  const rows = all.filter((path) => path.endsWith('.rows.jsonl'))
  expect(rows).toHaveLength(1)
  return rows.map((path) => fs.readFileSync(path, 'utf8')).join('')
}
