import fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Database, openDatabase } from '../sqlite/driver.ts'
import type { SqlValue } from '../transcript/source.ts'
import { expectWhole, prepareAll } from '../../test/followed-machine.ts'
import { createMachine, type Machine } from '../../test/machine.ts'
import { LONG_BYTES } from './followed-units.ts'
import type { SyncReport } from './sync.ts'

const SCHEMA = `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT NOT NULL, title TEXT, version TEXT,
    time_created INTEGER, time_updated INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
  CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE session_input (id TEXT PRIMARY KEY, session_id TEXT, data TEXT);
  CREATE TABLE todo (session_id TEXT, content TEXT, position INTEGER, PRIMARY KEY (session_id, position));
  CREATE TABLE event (id TEXT PRIMARY KEY, aggregate_id TEXT, seq INTEGER, type TEXT, data TEXT)`

let machine: Machine
let database: Database
/** Goes up with each row. */
let n = 0
beforeEach(async () => {
  machine = createMachine()
  const path = join(machine.user, '.local/share/opencode/opencode.db')
  fs.mkdirSync(join(path, '..'), { recursive: true })
  database = await openDatabase(path)
  database.exec(SCHEMA)
  n = 0
})
afterEach(() => {
  database.close()
  fs.rmSync(machine.base, { recursive: true, force: true })
})

const follow = (): Promise<SyncReport> => machine.sync({ isFollowing: true })

function insert(table: string, ...values: readonly (SqlValue | object)[]): void {
  const all = values.map((value) =>
    typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
      ? JSON.stringify(value)
      : value,
  )
  database
    .prepare(`INSERT OR REPLACE INTO ${table} VALUES (${all.map(() => '?').join(', ')})`)
    .run(...(all as SqlValue[]))
}

const next = (): number => (n += 1)
const now = (): number => Date.now()

function session(id: string, parent: string | null = null, at = now()): void {
  insert('session', id, 'p1', parent, '/home/me', `Title of ${id}`, '1.2.20', at + next(), at)
}
function message(of: string, role: 'user' | 'assistant' = 'user', id = `msg_${next()}`): string {
  const created = now() + next()
  const answer = {
    modelID: 'claude-opus-4-6',
    providerID: 'anthropic',
    tokens: { input: 20 + n, output: 150, reasoning: 0, cache: { read: 900, write: 100 } },
    cost: 0.25,
  }
  const data = { role, time: { created, completed: created + 5 }, ...(role === 'assistant' && answer) }
  insert('message', id, of, created, created, data)
  return id
}
function part(of: string, message: string, data: object, id = `prt_${next()}`): string {
  insert('part', id, message, of, now(), now(), data)
  return id
}
const text = (said: string): object => ({ type: 'text', text: said })
const task = (child: string): object => ({
  type: 'tool',
  callID: `call_${child}_${next()}`,
  tool: 'task',
  state: { status: 'completed', input: {}, output: 'done', metadata: { sessionId: child } },
})

/**
 * Two sessions taken in and prepared, in a file that is long enough to be followed: by what they say, or else by a table that is never
 * read, which tells the same in a fraction of the time.
 */
async function longDatabase(by: 'sessions' | 'other' = 'other'): Promise<void> {
  for (const id of ['ses_a', 'ses_b']) {
    session(id, null, 1_770_000_000_000)
    const said = text('x'.repeat(by === 'sessions' ? LONG_BYTES / 50 : 1000))
    for (let at = 0; at < 26; at += 1) part(id, message(id, 'assistant'), said)
  }
  if (by === 'other')
    database.exec(`CREATE TABLE other (data BLOB); INSERT INTO other VALUES (zeroblob(${LONG_BYTES}));
      PRAGMA wal_checkpoint(TRUNCATE)`)
  await follow()
  await prepareAll(machine)
}

const some = (table: string, at: number): Readonly<Record<string, SqlValue>> => {
  const rows = database.prepare(`SELECT id FROM ${table} ORDER BY id`).all()
  return rows[at % rows.length] ?? {}
}
const idOf = (table: string, at: number): string => String(some(table, at)['id'])
const ownerOf = (table: string, id: string, column = 'session_id'): string =>
  String(database.prepare(`SELECT ${column} AS owner FROM ${table} WHERE id = ?`).get(id)?.['owner'])

/** Things that OpenCode does, each to rows that `at` chooses. */
const CHANGES: readonly ((at: number) => void)[] = [
  () => {
    const id = `ses_${next()}`
    session(id)
    part(id, message(id), text('begin'))
  },
  (at) => {
    const id = idOf('session', at)
    part(id, message(id), text('a question'))
  },
  (at) => {
    const id = idOf('session', at)
    const answer = message(id, 'assistant')
    part(id, answer, text('an answer'))
    part(id, answer, {
      type: 'tool',
      callID: `call_${n}`,
      tool: 'bash',
      state: { status: 'running', input: { command: 'ls' } },
    })
  },
  (at) => {
    const id = idOf('message', at)
    part(ownerOf('message', id), id, text('one more'))
  },
  (at) => {
    const id = idOf('part', at)
    part(ownerOf('part', id), ownerOf('part', id, 'message_id'), text(`changed ${next()}`), id)
  },
  (at) => {
    const id = idOf('message', at)
    database.prepare('DELETE FROM part WHERE message_id = ?').run(id)
    database.prepare('DELETE FROM message WHERE id = ?').run(id)
  },
  (at) => {
    const [parent, child] = [idOf('session', at), `ses_${next()}`]
    session(child, parent)
    part(child, message(child), text('look'))
    part(parent, message(parent, 'assistant'), task(child))
  },
  // One that is there is said to have been started by another call, before or after.
  (at) => {
    const [parent, child] = [idOf('session', at), idOf('session', at + 1)]
    part(parent, message(parent, 'assistant'), task(child))
  },
  (at) => {
    const id = idOf('session', at)
    database.prepare('DELETE FROM todo WHERE session_id = ?').run(id)
    insert('todo', id, `do ${next()}`, 0)
    insert('todo', id, `do ${next()}`, 1)
  },
  (at) =>
    void database
      .prepare('UPDATE session SET title = ?, time_updated = ? WHERE id = ?')
      .run(`Renamed ${next()}`, now() + next(), idOf('session', at)),
  (at) => insert('event', `evt_${next()}`, idOf('session', at), n, 'message.updated', { n }),
  (at) => insert('session_input', `inp_${next()}`, idOf('session', at), { text: 'typed' }),
  (at) =>
    insert('session_message', `smg_${next()}`, idOf('session', at), 'user', n, now(), now(), {
      text: 'said',
    }),
  // Of a kind that nobody knows.
  (at) => {
    const id = idOf('message', at)
    part(ownerOf('message', id), id, { type: 'hologram', depth: next() })
  },
]

describe('a database that is followed', () => {
  it('says what reading all of it says, whatever has come to it', async () => {
    await longDatabase()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(CHANGES.length - 1), fc.nat(1000)), { minLength: 1, maxLength: 3 }),
        async (changes) => {
          for (const [change, at] of changes) CHANGES[change]?.(at)
          await follow()
          await expectWhole(machine)
          await prepareAll(machine)
        },
      ),
      // What is there is what the series before it left.
      { numRuns: 4, endOnFailure: true },
    )
  })

  it('is read by the sessions that have changed', async () => {
    await longDatabase('sessions')
    CHANGES[6]?.(0)
    for (const [at, change] of CHANGES.entries()) {
      change(at)
      const { entries, sessions } = await follow()
      // All of it would be a hundred.
      expect(entries, `change ${at}`).toBeLessThan(10)
      expect(sessions, `change ${at}`).toBeLessThan(4)
    }
    await expectWhole(machine)
  })

  it('is read whole when a part or a message comes that is nobody’s, and for as long as it is there', async () => {
    await longDatabase()
    part('ses_a', 'msg_nowhere', text('lost'))
    expect((await follow()).entries).toBeGreaterThan(50)
    await expectWhole(machine)
    await prepareAll(machine)
    part('ses_a', message('ses_a'), text('more'))
    expect((await follow()).entries).toBeGreaterThan(50)
    await expectWhole(machine)
    message('ses_nowhere')
    expect((await follow()).entries).toBeGreaterThan(50)
    await expectWhole(machine)
  })

  it('counts what is damaged in it', async () => {
    await longDatabase()
    insert('part', 'prt_damaged', message('ses_b'), 'ses_b', now(), now(), 'no json')
    expect(await follow()).toMatchObject({ damage: 1, sessions: 1 })
    await expectWhole(machine)
    part('ses_b', ownerOf('part', 'prt_damaged', 'message_id'), text('mended'), 'prt_damaged')
    expect(await follow()).toMatchObject({ damage: -1, sessions: 1 })
    await expectWhole(machine)
  })

  it('is read whole when its tables have another column, and after another process has read it', async () => {
    await longDatabase()
    database.exec('ALTER TABLE part ADD COLUMN more TEXT')
    message('ses_a')
    expect((await follow()).entries).toBeGreaterThan(50)
    await prepareAll(machine)
    message('ses_a')
    expect((await follow()).sessions).toBe(1)
    message('ses_a')
    await machine.sync()
    message('ses_a')
    expect((await follow()).entries).toBeGreaterThan(50)
    await expectWhole(machine)
  })

  it('is listed with what was done, though as much was done before', async () => {
    await longDatabase()
    const edit = (filePath: string): object => ({
      type: 'tool',
      callID: 'call_edit',
      tool: 'edit',
      state: { status: 'completed', input: { filePath, oldString: 'a', newString: 'b' }, output: 'done' },
    })
    const id = part('ses_a', message('ses_a', 'assistant'), edit('/home/me/one.ts'))
    await follow()
    await expectWhole(machine)
    part('ses_a', ownerOf('part', id, 'message_id'), edit('/home/me/two.ts'), id)
    expect(await follow()).toMatchObject({ sessions: 1, entries: 0 })
    await expectWhole(machine)
  })

  it('has rows of several MB read, too', async () => {
    await longDatabase()
    const long = part('ses_a', message('ses_a'), text('é'.repeat(1_500_000)))
    expect((await follow()).sessions).toBe(1)
    await expectWhole(machine)
    part('ses_a', ownerOf('part', long, 'message_id'), text('short'), long)
    expect((await follow()).sessions).toBe(1)
    await expectWhole(machine)
  })

  it('is read so however much else is in its file', async () => {
    database.exec('CREATE TABLE more (data BLOB); INSERT INTO more VALUES (zeroblob(20000000))')
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    await longDatabase('sessions')
    message('ses_a')
    expect(await follow()).toMatchObject({ sessions: 1, entries: 1 })
  })

  it('shares a session, and its calls, with what else has them', async () => {
    await longDatabase()
    const root = '.local/share/opencode/storage'
    const call = message('ses_b', 'assistant', 'msg_shared')
    const { data } = database.prepare('SELECT data FROM message WHERE id = ?').get(call) ?? {}
    const told = { id: call, sessionID: 'ses_b', ...(JSON.parse(String(data)) as object) }
    const created = 1_770_000_000_000
    const info = {
      id: 'ses_b',
      projectID: 'p1',
      directory: '/home/me',
      title: 'In files',
      version: '1.1.0',
      time: { created },
    }
    machine.write(`${root}/session/p1/ses_b.json`, JSON.stringify(info))
    machine.write(`${root}/message/ses_b/${call}.json`, JSON.stringify(told))
    await follow()
    await expectWhole(machine)
    await prepareAll(machine)
    part('ses_b', call, text('more of it'))
    expect((await follow()).sessions).toBe(1)
    await expectWhole(machine)
    message('ses_b', 'assistant', call)
    await follow()
    await expectWhole(machine)
  })

  it('brings nothing back of a session that was deleted, and reads the others', async () => {
    await longDatabase()
    const [gone] = (await machine.list()).filter(({ title }) => title === 'Title of ses_a')
    fs.appendFileSync(
      join(machine.home, 'tombstones.jsonl'),
      `${JSON.stringify({ session: gone?.id, at: new Date().toISOString() })}\n`,
    )
    await machine.sync()
    for (const step of [0, 1]) {
      part('ses_a', message('ses_a'), text('more'))
      part('ses_b', message('ses_b'), text('more'))
      const { sessions, entries } = await follow()
      expect(sessions).toBe(1)
      if (step === 1) expect(entries).toBeLessThan(10)
      await expectWhole(machine)
      await prepareAll(machine)
    }
  })
})
