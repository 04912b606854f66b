import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exportRows, openRows } from '../archive/kept-rows.ts'
import { nodeFiles } from '../journal/files.ts'
import { openSource } from '../sources/open.ts'
import { readTranscripts } from '../sources/read.ts'
import { openDatabase } from '../sqlite/driver.ts'
import type { Damage } from '../transcript/damage.ts'
import { citation } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { SQLITE_MAGIC, type Source, type SourceDatabase, type SourceFile } from '../transcript/source.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { Drift } from './format.ts'
import { OPENCODE_ROWS } from './places.ts'
import { opencode } from './opencode.ts'

const MS = 1_770_000_000_000
const SCHEMA = `
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT NOT NULL, title TEXT, version TEXT,
    revert TEXT, cost REAL DEFAULT 0, time_created INTEGER, time_updated INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT NOT NULL);
  CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, data TEXT);
  CREATE TABLE session_input (id TEXT PRIMARY KEY, session_id TEXT, data TEXT);
  CREATE TABLE todo (session_id TEXT, content TEXT, position INTEGER, PRIMARY KEY (session_id, position));
  CREATE TABLE event (id TEXT PRIMARY KEY, aggregate_id TEXT, seq INTEGER, type TEXT, data TEXT);
  CREATE TABLE account (id TEXT PRIMARY KEY, access_token TEXT);
  CREATE TABLE session_share (session_id TEXT PRIMARY KEY, secret TEXT);`

let folder = ''
let path = ''
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-opencode-'))
  path = join(folder, 'opencode.db')
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

type Rows = Readonly<Record<string, readonly (readonly unknown[])[]>>

async function make(rows: Rows, more = ''): Promise<void> {
  const database = await openDatabase(path)
  database.exec(SCHEMA + more)
  for (const [table, all] of Object.entries(rows)) {
    for (const row of all) {
      const values = row.map((value) =>
        typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
      )
      database
        .prepare(`INSERT INTO ${table} VALUES (${row.map(() => '?').join(', ')})`)
        .run(...(values as string[]))
    }
  }
  database.close()
}

const session = (id: string, at: number, more: { parent?: string; revert?: object } = {}) => [
  id,
  'p1',
  more.parent ?? null,
  '/home/me/demo',
  `Title of ${id}`,
  '1.2.20',
  more.revert ?? null,
  0.5,
  MS + at,
  MS + at + 100,
]
const TOKENS = { total: 1170, input: 20, output: 150, reasoning: 100, cache: { read: 900, write: 100 } }
const user = (id: string, of: string, at: number) => [
  id,
  of,
  MS + at,
  MS + at,
  { role: 'user', time: { created: MS + at }, agent: 'build' },
]
const assistant = (id: string, of: string, at: number) => [
  id,
  of,
  MS + at,
  MS + at,
  {
    role: 'assistant',
    modelID: 'claude-opus-4-6',
    providerID: 'anthropic',
    time: { created: MS + at, completed: MS + at + 50 },
    tokens: TOKENS,
    cost: 0.25,
    finish: 'stop',
  },
]
const part = (id: string, message: string, of: string, data: object) => [id, message, of, MS, data]
const text = (id: string, message: string, of: string, said: string) =>
  part(id, message, of, { type: 'text', text: said })

/** A parent, its child, which sorts before it, and what lies beside them. */
const FAMILY: Rows = {
  session: [session('ses_a', 50, { parent: 'ses_z' }), session('ses_z', 0)],
  message: [
    assistant('msg_2', 'ses_z', 20),
    user('msg_1', 'ses_z', 10),
    user('msg_3', 'ses_a', 60),
    assistant('msg_4', 'ses_a', 70),
  ],
  part: [
    text('prt_1', 'msg_1', 'ses_z', 'mend the gate'),
    part('prt_2', 'msg_2', 'ses_z', {
      type: 'tool',
      callID: 'call_1',
      tool: 'task',
      state: { status: 'completed', input: {}, output: 'done', metadata: { sessionId: 'ses_a' } },
    }),
    text('prt_3', 'msg_2', 'ses_z', 'mended'),
    text('prt_4', 'msg_3', 'ses_a', 'look for nails'),
    text('prt_5', 'msg_4', 'ses_a', 'found nails'),
  ],
  todo: [
    ['ses_z', 'second', 1],
    ['ses_z', 'first', 0],
  ],
  session_input: [['inp_1', 'ses_z', { text: 'mend the gate' }]],
  event: [['evt_1', 'ses_z', 1, 'message.updated', { x: 1 }]],
  account: [['acc', 'secret-token']],
  session_share: [['ses_z', 'secret-share']],
}

type Read = { readonly transcripts: readonly Transcript[]; readonly damage: readonly Damage[] }

async function readSource(source: Source, drift?: (one: Drift) => void): Promise<Read> {
  return readTranscripts(opencode.read(source, drift === undefined ? {} : { drift }))
}
async function read(drift?: (one: Drift) => void): Promise<Read> {
  return readSource(await openSource(path), drift)
}
const texts = ({ entries }: Transcript) =>
  entries.flatMap(({ blocks }) => blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])))
const recordsOf = ({ entries }: Transcript) => entries.map(({ metadata }) => metadata?.['record'])

/** A source as kept rows give it. */
function keptSource(database: () => Promise<SourceDatabase>): Source {
  const file: SourceFile = {
    path: 'opencode.db',
    sizeBytes: 1,
    modifiedAt: new Date(0).toISOString(),
    head: async (bytes) => Buffer.from(SQLITE_MAGIC).subarray(0, bytes),
    async *chunks() {},
    bytes: async () => Buffer.alloc(0),
    database,
  }
  return { path, kind: 'file', list: async () => [file], find: async () => file }
}

describe("OpenCode's database", () => {
  it('gives parents before children, each linked to the call that spawned it', async () => {
    await make(FAMILY)
    const { transcripts, damage } = await read()
    const [parent, child] = transcripts as [Transcript, Transcript]
    expect(damage).toEqual([])
    expect(transcripts.flatMap((one) => one.damage)).toEqual([])
    expect(parent.session).toMatchObject({
      id: uuidFrom('opencode', 'ses_z'),
      native: { agent: 'opencode', sessionId: 'ses_z' },
      title: 'Title of ses_z',
      cwd: '/home/me/demo',
      version: '1.2.20',
      model: 'claude-opus-4-6',
      startedAt: new Date(MS).toISOString(),
      reportedCost: '0.25',
      metadata: { opencode: { projectID: 'p1', cost: 0.5 } },
    })
    expect(texts(parent)).toEqual(['mend the gate', 'mended'])
    expect(texts(child)).toEqual(['look for nails', 'found nails'])
    const call = parent.entries.find(({ blocks }) => blocks[0]?.type === 'tool-call')
    expect(child.session.parent).toEqual({
      session: parent.session.id,
      citation: citation(parent.session.id, call as Transcript['entries'][number]),
      relation: 'subagent',
    })
  })

  it('counts what each message used, once', async () => {
    await make(FAMILY)
    const fold = createCallFold()
    for (const { entries } of (await read()).transcripts) for (const entry of entries) fold.add(entry)
    expect(fold.totals()).toMatchObject({ usage: { input: 40, cacheRead: 1800, output: 300 } })
  })

  it('gives an entry for each row of a session, and none of what may hold keys', async () => {
    await make(FAMILY)
    const { transcripts } = await read()
    const all = transcripts.flatMap((one) => one.entries)
    const rows = ['session', 'message', 'part', 'todo', 'session_input', 'event'].flatMap(
      (table) => FAMILY[table] ?? [],
    )
    expect(new Set(all.map(({ origin }) => origin?.record)).size).toBe(rows.length)
    expect(recordsOf(transcripts[0] as Transcript).slice(-4)).toEqual([
      'session_input',
      'todo',
      'todo',
      'event',
    ])
    expect(JSON.stringify(transcripts)).not.toContain('secret')
  })

  it('reads the same entries from kept rows as from the live database', async () => {
    await make({
      ...FAMILY,
      session_message: [['msg_9', 'ses_q', 'user', 1, MS, { text: 'hello', time: { created: MS } }]],
    })
    const live = await read()
    const kept = join(folder, 'opencode.db.rows.jsonl')
    const [file] = await (await openSource(path)).list()
    const database = (await file?.database?.()) as SourceDatabase
    await exportRows(nodeFiles, kept, database, OPENCODE_ROWS)
    await database.close()
    expect(fs.readFileSync(kept, 'utf8')).not.toContain('secret')
    const source = keptSource(() => openRows(nodeFiles, kept))
    expect(await opencode.detect(source)).toEqual(await opencode.detect(await openSource(path)))
    expect(await readSource(source)).toEqual(live)
    expect(live.transcripts).toHaveLength(3)
  })

  it('is handed over before much of it is held, however long its messages are', async () => {
    const said = 'all that was said before '.repeat(20_000)
    const ids = Array.from({ length: 40 }, (_, n) => `msg_${n + 10}`)
    await make({
      session: [session('ses_a', 0)],
      message: ids.map((id, n) => user(id, 'ses_a', n)),
      part: ids.map((id) => text(`prt_${id}`, id, 'ses_a', said)),
    })
    let [messages, most] = [0, 0]
    for await (const items of opencode.read(await openSource(path))) {
      const whole = items.filter((item) => toJson(item as unknown as Json).includes(said)).length
      messages += whole
      most = Math.max(most, whole)
    }
    expect(messages).toBe(40)
    // Of 500,000 characters each.
    expect(most).toBeLessThanOrEqual(3)
  })

  it('has of parts that are too much together the first, and tells of the others by name', async () => {
    await make({
      session: [session('ses_a', 0)],
      message: [user('msg_1', 'ses_a', 0), user('msg_2', 'ses_a', 1)],
      part: [text('prt_4', 'msg_1', 'ses_a', 'short'), text('prt_5', 'msg_2', 'ses_a', 'of another')],
    })
    const database = await openDatabase(path)
    // As a string, each takes 40 MB.
    for (const n of [1, 2, 3])
      database.exec(`INSERT INTO part VALUES ('prt_${n}', 'msg_1', 'ses_a', 1,
        '{"type":"text","text":"😀' || replace(hex(zeroblob(10000000)), '00', 'ab') || '"}')`)
    database.close()
    const texts: number[] = []
    const damage: string[] = []
    for await (const items of opencode.read(await openSource(path)))
      for (const item of items) {
        if (item.type === 'damage') damage.push(`${item.damage.kind}: ${item.damage.reason}`)
        if (item.type !== 'entry') continue
        for (const block of item.entry.blocks)
          if (block.type === 'text' && typeof block.text === 'string') texts.push(block.text.length)
      }
    expect(texts).toEqual([20_000_002, 5, 10])
    expect(damage).toEqual(
      ['prt_2', 'prt_3'].map(
        (id) => `too-large: a part of 20000029 bytes (${id}): kept, and too large to be read`,
      ),
    )
  })

  it('is told by its tables, and another program’s is not', async () => {
    await make({})
    expect((await opencode.detect(await openSource(path)))?.confidence).toBeGreaterThan(0.9)
    const other = join(folder, 'other.db')
    const database = await openDatabase(other)
    database.exec('CREATE TABLE session (id, name); CREATE TABLE message (id, data); CREATE TABLE part (id)')
    database.close()
    expect(await opencode.detect(await openSource(other))).toBeUndefined()
  })

  it('is found in its folder, beside the tree of older versions', async () => {
    await make(FAMILY)
    const tree = join(folder, 'storage/session/p1')
    fs.mkdirSync(tree, { recursive: true })
    const old = { id: 'ses_old', version: '1.1', directory: '/d', time: { created: MS } }
    fs.writeFileSync(join(tree, 'ses_old.json'), JSON.stringify(old))
    const source = await openSource(folder)
    expect((await opencode.detect(source))?.confidence).toBeGreaterThan(0.9)
    const { transcripts } = await readSource(source)
    expect(transcripts.map((one) => one.session.native?.sessionId)).toEqual(['ses_z', 'ses_a', 'ses_old'])
  })

  it('marks what was taken back', async () => {
    await make({
      ...FAMILY,
      session: [session('ses_a', 50), session('ses_z', 0, { revert: { messageID: 'msg_2' } })],
    })
    const [parent] = (await read()).transcripts as [Transcript]
    const reverted = parent.entries.filter(({ metadata }) => metadata?.['reverted'] === true)
    expect(reverted.map(({ id }) => id)).toContain('prt_3')
    expect(reverted.map(({ id }) => id)).not.toContain('prt_1')
  })
})

describe('rows of the newer session_message', () => {
  const NEW = [
    ['m1', 'ses_z', 'user', 1, MS, { text: 'mend it', time: { created: MS } }],
    [
      'm2',
      'ses_z',
      'assistant',
      2,
      MS,
      {
        agent: 'build',
        model: { id: 'claude-opus-4-6', providerID: 'anthropic' },
        content: [
          { type: 'text', id: 't1', text: 'looking' },
          {
            type: 'tool',
            id: 'call_1',
            name: 'bash',
            state: {
              status: 'completed',
              input: { command: 'ls' },
              content: [{ type: 'text', text: 'a.txt' }],
            },
            time: { created: MS, ran: MS + 10, completed: MS + 30 },
          },
        ],
        tokens: TOKENS,
        time: { created: MS, completed: MS + 40 },
      },
    ],
    ['m3', 'ses_z', 'model-switched', 3, MS, { model: { id: 'other' } }],
  ]

  it('are messages where there are no others', async () => {
    await make({ session: [session('ses_z', 0)], session_message: NEW })
    const [one] = (await read()).transcripts as [Transcript]
    expect(texts(one)).toEqual(['mend it', 'looking'])
    const result = one.entries.find(({ role }) => role === 'tool')
    expect(result).toMatchObject({
      durationMs: 20,
      blocks: [{ type: 'tool-result', callId: 'call_1', name: 'bash', output: 'a.txt' }],
    })
    const fold = createCallFold()
    for (const entry of one.entries) fold.add(entry)
    expect(fold.totals().usage).toMatchObject({ input: 20, output: 150 })
    expect(recordsOf(one)).toContain('model-switched')
  })

  it('are events where the same is said in message and part', async () => {
    await make({ ...FAMILY, session_message: NEW })
    const [one] = (await read()).transcripts as [Transcript]
    expect(texts(one)).toEqual(['mend the gate', 'mended'])
    expect(recordsOf(one).filter((record) => record === 'user' || record === 'assistant')).toHaveLength(2)
  })
})

describe('damage in it', () => {
  it('is told for data that is not JSON, and the row is kept', async () => {
    const FAMILY_MESSAGES = FAMILY['message'] as unknown[][]
    await make({
      ...FAMILY,
      message: [...FAMILY_MESSAGES, ['msg_5', 'ses_z', MS + 90, MS, '{"role":']],
      part: [...(FAMILY['part'] as unknown[][]), ['prt_9', 'msg_5', 'ses_z', MS, 'torn']],
    })
    const [one] = (await read()).transcripts as [Transcript]
    expect(one.damage.map(({ kind, reason }) => [kind, reason])).toEqual([
      ['not-json', 'a message that is not JSON'],
      ['not-json', 'a part that is not JSON'],
    ])
    expect(JSON.stringify(one.entries)).toContain('torn')
  })

  it('costs no row: parts without a message, messages without a session, and rows that name neither', async () => {
    await make({
      session: [session('ses_z', 0)],
      message: [
        user('msg_x', 'ses_gone', 5),
        [...user('msg_n', 'x', 6).slice(0, 1), null, MS, MS, { role: 'user' }],
      ],
      part: [
        text('prt_x', 'msg_x', 'ses_gone', 'one'),
        text('prt_y', 'msg_gone', 'ses_z', 'two'),
        text('prt_n', 'msg_n', 'ses_n', 'three'),
      ],
      todo: [['ses_todo', 'four', 0]],
    })
    const { transcripts } = await read()
    expect(new Set(transcripts.flatMap(texts))).toEqual(new Set(['one', 'three', 'two']))
    expect(JSON.stringify(transcripts)).toContain('four')
    expect(transcripts.map((one) => one.session.native?.sessionId)).toEqual([
      'ses_z',
      'ses_gone',
      'ses_todo',
      undefined,
    ])
  })

  it('leaves parts without a message in their session, behind its other entries and with its facts', async () => {
    const rows = { ...FAMILY, message: (FAMILY['message'] ?? []).filter(([id]) => id !== 'msg_2') }
    await make(rows)
    const drifts: string[] = []
    const { transcripts } = await read(({ name }) => void drifts.push(name))
    expect(transcripts.map((one) => one.session.native?.sessionId)).toEqual(['ses_z', 'ses_a'])
    const [parent] = transcripts as [Transcript]
    expect(parent.session).toMatchObject({ id: uuidFrom('opencode', 'ses_z'), title: 'Title of ses_z' })
    expect(texts(parent)).toEqual(['mend the gate', 'mended'])
    expect(parent.entries.map(({ sequence }) => sequence)).toEqual(parent.entries.map((_, n) => n))
    expect(new Set(parent.entries.map(({ id }) => id)).size).toBe(parent.entries.length)
    // No event of their message is before them, and it is what they are called by.
    expect(parent.entries.slice(-3).map(({ id, call }) => [id, call?.messageId])).toEqual([
      ['prt_2', 'msg_2'],
      ['prt_2/result', undefined],
      ['prt_3', 'msg_2'],
    ])
    expect(new Set(parent.entries.map(({ origin }) => origin?.record)).size).toBe(9)
    expect(drifts).toEqual([])
  })

  it('leaves them there where sessions alternate and none has a row', async () => {
    const parts = ['ses_1', 'ses_2', 'ses_1', 'ses_2'].map((of, n) =>
      text(`prt_${n}`, `msg_${n}`, of, `${of} ${n}`),
    )
    await make({ session: [session('ses_1', 0)], part: parts })
    const { transcripts } = await read()
    expect(transcripts.map((one) => [one.session.native?.sessionId, texts(one)])).toEqual([
      ['ses_1', ['ses_1 0', 'ses_1 2']],
      ['ses_2', ['ses_2 1', 'ses_2 3']],
    ])
    expect(transcripts.map((one) => one.entries.map(({ sequence }) => sequence))).toEqual([
      [0, 1, 2],
      [0, 1],
    ])
  })

  it('costs no session its name: each is there once, whatever stretch of the file is lost', async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `ses_${n + 10}`)
    await make({
      session: ids.map((id, n) => session(id, n)),
      message: ids.flatMap((id, n) => [user(`msg_${id}`, id, n), assistant(`msg_${id}b`, id, n)]),
      part: ids.flatMap((id) => [
        text(`prt_${id}`, `msg_${id}`, id, `of ${id} `.repeat(20)),
        text(`prt_${id}b`, `msg_${id}b`, id, 'answered'),
      ]),
    })
    const whole = fs.readFileSync(path)
    for (let at = 4096; at < whole.length; at += 4096) {
      const changed = Buffer.from(whole)
      changed.fill(0xff, at, at + 4096)
      fs.writeFileSync(path, changed)
      const names = (await read()).transcripts.flatMap((one) => one.session.native?.sessionId ?? [])
      expect(names).toEqual([...new Set(names)])
    }
  })

  it('of the whole file costs what it hit, wherever it is', async () => {
    await make(FAMILY)
    const whole = fs.readFileSync(path)
    for (let at = 0; at < whole.length; at += 1999) {
      fs.writeFileSync(path, whole.subarray(0, at))
      await read()
      const changed = Buffer.from(whole)
      changed.fill(0xff, at, at + 64)
      fs.writeFileSync(path, changed)
      await read()
    }
  })

  it('or a lock costs the database and nothing beside it', async () => {
    const locked = keptSource(() =>
      Promise.reject(Object.assign(new Error('x is in use'), { name: 'HansardError', code: 'locked' })),
    )
    const { transcripts, damage } = await readSource(locked)
    expect(transcripts).toEqual([])
    expect(damage).toMatchObject([{ kind: 'missing', file: 'opencode.db', reason: 'x is in use' }])
  })
})

describe('drift', () => {
  it('tells tables of sessions, keys and parts that were not there before', async () => {
    await make({ ...FAMILY, part: [part('prt_1', 'msg_1', 'ses_z', { type: 'hologram', beam: 1 })] })
    const database = await openDatabase(path)
    database.exec(`CREATE TABLE session_mood (session_id TEXT, mood TEXT); ALTER TABLE session ADD COLUMN aura TEXT;
                   UPDATE session SET aura = 'calm'; UPDATE message SET data = json_set(data, '$.whim', 1)`)
    database.close()
    const names = new Set<string>()
    await read(({ kind, name, version }) => names.add(`${kind} ${name} ${version ?? ''}`.trim()))
    expect([...names].sort()).toEqual([
      'key message.assistant.whim 1.2.20',
      'key message.user.whim 1.2.20',
      'key session.aura 1.2.20',
      'record part.hologram 1.2.20',
      'record table session_mood',
    ])
  })
})
