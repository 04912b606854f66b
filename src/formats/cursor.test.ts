import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryFileSource, memorySource, files as toFiles } from '../../test/memory-files.ts'
import { exportRows, openRows } from '../archive/kept-rows.ts'
import { nodeFiles } from '../journal/files.ts'
import { openSource } from '../sources/open.ts'
import { readTranscripts, type ReadAll } from '../sources/read.ts'
import { openDatabase } from '../sqlite/driver.ts'
import { citation, type Entry } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import type { Source, SourceDatabase, SourceFile } from '../transcript/source.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { CHAT_ROWS } from './places.ts'
import { cursor } from './cursor.ts'

const UUID = '0b0a7f3e-3a53-4d52-9a53-0c5c1f2f5a10'
let folder = ''
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-cursor-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const line = (role: string, content: unknown, more: object = {}) =>
  JSON.stringify({ role, message: { content }, ...more })
const text = (said: string) => ({ type: 'text', text: said })
const jsonl = (...lines: readonly string[]) => `${lines.join('\n')}\n`

async function readAll(source: Source, drift?: (name: string) => void): Promise<ReadAll> {
  return readTranscripts(
    cursor.read(source, drift === undefined ? {} : { drift: ({ kind, name }) => drift(`${kind} ${name}`) }),
  )
}
async function readOne(name: string, content: string): Promise<Transcript> {
  const [one] = (await readAll(memoryFileSource(name, content))).transcripts
  return one as Transcript
}
const said = ({ entries }: { readonly entries: readonly Entry[] }) =>
  entries.map(({ role, blocks }) => [role, ...blocks])

describe('an agent transcript of lines', () => {
  it('is an entry for each line: prompts unwrapped, calls and results paired by position', async () => {
    const read = await readOne(
      `${UUID}.jsonl`,
      jsonl(
        line('user', [text('<external_links>\nx\n</external_links>\n<user_query>\nlist it\n</user_query>')]),
        line('assistant', [
          { type: 'thinking', thinking: 'hm' },
          text('listing'),
          { type: 'tool_use', name: 'Shell', input: { command: 'ls' } },
        ]),
        line('user', [{ type: 'tool_result', content: [text('a.txt')] }]),
        line('assistant', 'done', { model: 'gpt-5', extra: 1 }),
      ),
    )
    expect(read.session).toEqual({
      id: uuidFrom('cursor', UUID),
      native: { agent: 'cursor', sessionId: UUID },
      agent: 'cursor',
      status: 'completed',
    })
    expect(said(read)).toEqual([
      ['user', { type: 'text', text: 'list it' }],
      [
        'assistant',
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'listing' },
        { type: 'tool-call', name: 'Shell', input: { command: 'ls' } },
      ],
      ['tool', { type: 'tool-result', output: 'a.txt' }],
      ['assistant', { type: 'text', text: 'done' }],
    ])
    expect(read.entries[0]?.metadata).toEqual({ around: ['<external_links>\nx\n</external_links>'] })
    expect(read.entries[3]).toMatchObject({ model: 'gpt-5', metadata: { extra: 1 } })
    expect(read.entries.some(({ usage, at }) => usage !== undefined || at !== undefined)).toBe(false)
  })

  it('keeps blocks and lines that are nobody’s, and tells of them', async () => {
    const drift = new Set<string>()
    const content = jsonl(
      line('user', [text('hi'), { type: 'hologram', x: 1 }], { mood: 'calm' }),
      '"just text"',
      '{"role":"user","message":{"content":[',
    )
    const { transcripts } = await readAll(memoryFileSource('a.jsonl', content), (name) => drift.add(name))
    const [read] = transcripts as [Transcript]
    expect(read.entries.map(({ blocks }) => blocks.at(-1))).toEqual([
      { type: 'unknown', raw: { type: 'hologram', x: 1 } },
      { type: 'unknown', raw: 'just text' },
    ])
    expect(read.damage).toHaveLength(1)
    expect(drift).toEqual(new Set(['key line.mood', 'block hologram', 'record unknown']))
    expect(read.session.native).toBeUndefined()
  })

  it('gives a subagent its own session, linked to the call with its prompt', async () => {
    const task = { type: 'tool_use', name: 'Task', input: { prompt: 'look for nails' } }
    const source = memorySource(
      toFiles({
        [`p/agent-transcripts/${UUID}/subagents/child.jsonl`]: jsonl(line('user', [text('look for nails')])),
        [`p/agent-transcripts/${UUID}/subagents/other.jsonl`]: jsonl(line('user', [text('something else')])),
        [`p/agent-transcripts/${UUID}/${UUID}.jsonl`]: jsonl(line('user', 'mend'), line('assistant', [task])),
      }),
    )
    const [parent, child, other] = (await readAll(source)).transcripts as [Transcript, Transcript, Transcript]
    const call = parent.entries[1] as Entry
    expect(child.session.parent).toEqual({
      session: parent.session.id,
      citation: citation(parent.session.id, call),
      relation: 'subagent',
    })
    expect(other.session.parent).toEqual({ session: parent.session.id, relation: 'subagent' })
  })

  it('is told from lines of others that have a role and a message', async () => {
    const detect = (...lines: readonly string[]) => cursor.detect(memoryFileSource('x', jsonl(...lines)))
    expect((await detect(line('user', [text('a')])))?.confidence).toBeGreaterThan(0.8)
    expect(await detect(line('user', [text('a')], { type: 'user', uuid: 'x' }))).toBeUndefined()
    expect(await detect('{"role":"user","content":"a"}')).toBeUndefined()
    expect(await detect('user:')).toMatchObject({ confidence: 0.4 })
    expect(await detect('nothing of the kind')).toBeUndefined()
  })
})

describe('an older transcript of text', () => {
  const TEXT = `user:
<open_files>
a.ts
</open_files>
<user_query>
mend it

please
</user_query>

assistant:
[Thinking] I look
at it

first.
[Tool call] Read
  path: a.ts
  note: one
two

[Tool result] Read
let a

Mended.
user:
thanks
`
  it('is an entry for each thing said, thought, called and answered', async () => {
    const read = await readOne(`${UUID}.txt`, TEXT)
    expect(said(read)).toEqual([
      ['user', { type: 'text', text: 'mend it\n\nplease' }],
      ['assistant', { type: 'thinking', text: 'I look\nat it\n\nfirst.' }],
      ['assistant', { type: 'tool-call', name: 'Read', input: { path: 'a.ts', note: 'one\ntwo' } }],
      ['tool', { type: 'tool-result', name: 'Read', output: 'let a\n\nMended.' }],
      ['user', { type: 'text', text: 'thanks' }],
    ])
    expect((await cursor.detect(memoryFileSource('x', TEXT)))?.confidence).toBeGreaterThan(0.8)
  })

  it('leaves no byte out: what the entries came from is the whole file, but for blank lines', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.constantFrom(
              'user:',
              'assistant:',
              '[Thinking] a',
              '[Tool call] X',
              '  k: v',
              '[Tool result] X',
              '',
            ),
            fc.string(),
          ),
        ),
        async (lines) => {
          const content = Buffer.from(lines.map((one) => one.replaceAll('\n', ' ')).join('\n'))
          const covered = Buffer.from(content)
          const source = memoryFileSource('x.txt', `user:\n${content.toString()}`)
          for (const { entries } of (await readAll(source)).transcripts)
            for (const { origin } of entries) {
              const from = (origin?.byteOffset ?? 0) - 6
              covered.fill(0x20, Math.max(0, from), Math.max(0, from + (origin?.byteLength ?? 0)))
            }
          expect(covered.toString().replaceAll('\uFEFF', '').trim()).toBe('')
        },
      ),
      { numRuns: 200 },
    )
  })
})

async function makeDatabase(
  name: string,
  sql: string,
  rows: readonly (readonly [string, ...unknown[]])[],
): Promise<string> {
  const path = join(folder, name)
  const database = await openDatabase(path)
  database.exec(sql)
  for (const [table, ...values] of rows)
    database
      .prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`)
      .run(
        ...values.map((value) =>
          value instanceof Uint8Array || typeof value !== 'object' || value === null
            ? (value as string)
            : Buffer.from(JSON.stringify(value)),
        ),
      )
  database.close()
  return path
}

const MS = 1_770_000_000_000
const STATE = `CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
               CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`
const CHATS: readonly (readonly [string, ...unknown[]])[] = [
  [
    'cursorDiskKV',
    'composerData:c1',
    {
      _v: 10,
      composerId: 'c1',
      name: 'Mend the gate',
      createdAt: MS,
      lastUpdatedAt: MS + 5000,
      modelConfig: { modelName: 'claude-4.5-opus' },
      workspaceIdentifier: { uri: { fsPath: '/home/me/demo' } },
      createdOnBranch: 'main',
      blobEncryptionKey: 'secret-key',
      subagentComposerIds: ['c2'],
      fullConversationHeadersOnly: [{ bubbleId: 'b2' }, { bubbleId: 'b1' }, { bubbleId: 'gone' }],
    },
  ],
  ['cursorDiskKV', 'bubbleId:c1:b2', { type: 1, bubbleId: 'b2', text: 'mend it', images: [], createdAt: MS }],
  [
    'cursorDiskKV',
    'bubbleId:c1:b1',
    {
      type: 2,
      bubbleId: 'b1',
      text: 'mended',
      thinking: { text: 'hm' },
      createdAt: new Date(MS + 1000).toISOString(),
      tokenCount: { inputTokens: 0, outputTokens: 0 },
      toolFormerData: {
        tool: 5,
        name: 'read_file',
        toolCallId: 'call_1',
        rawArgs: '{"path":"a"}',
        result: '{"contents":"x"}',
        status: 'completed',
      },
    },
  ],
  [
    'cursorDiskKV',
    'bubbleId:c1:b0',
    { type: 2, bubbleId: 'b0', text: 'left out', tokenCount: { inputTokens: 9, outputTokens: 0 } },
  ],
  ['cursorDiskKV', 'composerData:c2', { composerId: 'c2', conversation: [{ type: 1, text: 'inline' }] }],
  ['cursorDiskKV', 'bubbleId:c9:b9', { type: 1, bubbleId: 'b9', text: 'whose?' }],
  ['cursorDiskKV', 'bubbleId:c1:bad', 'not json'],
  ['cursorDiskKV', 'bubbleId:c1:null', 'null'],
  ['cursorDiskKV', 'agentKv:blob:1', 'secret-blob'],
  ['ItemTable', 'cursorAuth/accessToken', 'secret-token'],
]

describe('the chats of the editor', () => {
  it('are sessions, their messages in the chat’s order and then those it does not list', async () => {
    const path = await makeDatabase('state.vscdb', STATE, CHATS)
    const source = await openSource(path)
    expect((await cursor.detect(source))?.confidence).toBeGreaterThan(0.8)
    const { transcripts } = await readAll(source)
    const [first, second, third] = transcripts as [Transcript, Transcript, Transcript]
    expect(first.session).toMatchObject({
      native: { agent: 'cursor', sessionId: 'c1' },
      title: 'Mend the gate',
      model: 'claude-4.5-opus',
      cwd: '/home/me/demo',
      git: { branch: 'main' },
      startedAt: new Date(MS).toISOString(),
      endedAt: new Date(MS + 5000).toISOString(),
    })
    expect(said(first).filter(([role]) => role !== undefined)).toEqual([
      ['user', { type: 'text', text: 'mend it' }],
      [
        'assistant',
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'mended' },
        { type: 'tool-call', callId: 'call_1', name: 'read_file', input: { path: 'a' } },
      ],
      ['tool', { type: 'tool-result', callId: 'call_1', name: 'read_file', output: '{"contents":"x"}' }],
      ['assistant', { type: 'text', text: 'left out' }],
    ])
    expect(first.damage.map(({ reason }) => reason)).toEqual(['a message that is not JSON'])
    expect(second.session.parent).toEqual({ session: first.session.id, relation: 'subagent' })
    expect(said(second).at(-1)).toEqual(['user', { type: 'text', text: 'inline' }])
    expect(third.session.native?.sessionId).toBe('c9')
    expect(JSON.stringify(transcripts)).not.toContain('secret')
    const rows = CHATS.filter(([, key]) => /^(composerData|bubbleId):/.test(String(key))).length
    const records = transcripts.flatMap((one) => one.entries.map(({ origin }) => origin?.record))
    // The inline message has no row of its own.
    expect(new Set(records).size).toBe(rows + 1)
  })

  it('never take 0 tokens for a count', async () => {
    const path = await makeDatabase('state.vscdb', STATE, CHATS)
    const { transcripts } = await readAll(await openSource(path))
    const usages = transcripts[0]?.entries.flatMap(({ usage }) => usage ?? [])
    expect(usages).toEqual([
      { quality: 'unavailable', raw: { inputTokens: 0, outputTokens: 0 } },
      { input: 9, quality: 'estimated', raw: { inputTokens: 9, outputTokens: 0 } },
    ])
  })

  it('read the same from kept rows, which hold nothing else of the database', async () => {
    const path = await makeDatabase('state.vscdb', STATE, CHATS)
    const source = await openSource(path)
    const live = await readAll(source)
    const [file] = (await source.list()) as [SourceFile]
    const kept = join(folder, 'rows.jsonl')
    const database = (await file.database?.()) as SourceDatabase
    await exportRows(nodeFiles, kept, database, CHAT_ROWS)
    await database.close()
    const bytes = fs.readFileSync(kept, 'utf8')
    expect(bytes).not.toContain('secret-token')
    expect(bytes).not.toContain('secret-blob')
    const again: Source = {
      ...source,
      list: async () => [{ ...file, database: () => openRows(nodeFiles, kept) }],
    }
    expect(await readAll(again)).toEqual(live)
  })
})

describe("an agent's store", () => {
  const hash = (n: number) => Buffer.alloc(32, n)
  const META = {
    agentId: UUID,
    latestRootBlobId: 'f0',
    name: 'New Agent',
    mode: 'default',
    createdAt: MS,
    lastUsedModel: 'gpt-5',
  }
  const BLOBS: readonly (readonly [string, ...unknown[]])[] = [
    ['meta', '0', Buffer.from(JSON.stringify(META)).toString('hex')],
    ['blobs', 'f0', Buffer.concat([1, 2].flatMap((n) => [Buffer.from([0x0a, 32]), hash(n)]))],
    [
      'blobs',
      hash(2).toString('hex'),
      {
        role: 'assistant',
        id: 'x',
        content: [{ type: 'tool-call', toolCallId: 't', toolName: 'Shell', args: { a: 1 } }],
      },
    ],
    ['blobs', hash(1).toString('hex'), { role: 'user', content: '<user_query>\nmend\n</user_query>' }],
    ['blobs', 'other', { role: 'tool', content: [{ type: 'tool-result', toolCallId: 't', result: 'ok' }] }],
  ]

  it('says what its meta says, and its messages in the order of the root', async () => {
    const path = await makeDatabase(
      'store.db',
      'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)',
      BLOBS,
    )
    const source = await openSource(path)
    expect((await cursor.detect(source))?.confidence).toBeGreaterThan(0.9)
    const [one] = (await readAll(source)).transcripts as [Transcript]
    expect(one.session).toMatchObject({
      id: uuidFrom('cursor', UUID),
      title: 'New Agent',
      model: 'gpt-5',
      mode: 'default',
      startedAt: new Date(MS).toISOString(),
    })
    expect(said(one).filter(([role]) => role !== undefined)).toEqual([
      ['user', { type: 'text', text: 'mend' }],
      ['assistant', { type: 'tool-call', callId: 't', name: 'Shell', input: { a: 1 } }],
      ['tool', { type: 'tool-result', callId: 't', output: 'ok' }],
    ])
    expect(one.entries).toHaveLength(BLOBS.length)
  })

  it('is not any database with blobs and meta', async () => {
    const path = await makeDatabase(
      'x.db',
      'CREATE TABLE meta (key TEXT, value TEXT); CREATE TABLE blobs (id TEXT, data BLOB)',
      [['meta', '0', '7b7d']],
    )
    expect(await cursor.detect(await openSource(path))).toBeUndefined()
  })
})
