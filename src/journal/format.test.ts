import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { first, sampleEntry, sampleRecords, SESSION_ID, toLines } from '../../test/journal-samples.ts'
import { memoryFileSource, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import type { BlobRef } from '../transcript/block.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { journal } from './format.ts'
import type { JournalRecord } from './record.ts'
import { bootId, createWriterId, isWriterAlive } from './writer-id.ts'

const session = (facts: Partial<Extract<JournalRecord, { t: 'session' }>> = {}): JournalRecord => ({
  t: 'session',
  ...first,
  writer: '1-1-w',
  boot: 'another boot',
  at: '2026-01-01T00:00:00.000Z',
  ...facts,
})
const entry = (n: number): JournalRecord => ({ t: 'entry', entry: sampleEntry(n) })
const end = (facts: object): JournalRecord => ({
  t: 'end',
  session: facts,
  counts: { entries: 0, lines: 0 },
  at: '2026-01-01T00:00:00.000Z',
})

async function readRecords(...records: readonly JournalRecord[]): Promise<Transcript> {
  return readBytes(Buffer.concat(toLines(records)))
}

async function readBytes(bytes: Buffer): Promise<Transcript> {
  const [only] = await readAll(journal, memoryFileSource('journal-w.jsonl', bytes))
  if (only === undefined) throw new Error('no session')
  return only
}

function withoutOrigins({ session, entries }: Transcript): unknown {
  return { session, entries: entries.map((entry) => ({ ...entry, origin: undefined })) }
}

describe('a journal read to the model', () => {
  it('says where a session comes from, and in which way', async () => {
    const parent = { session: SESSION_ID, citation: `${SESSION_ID}#3`, relation: 'fork' as const }
    const { session: read } = await readRecords(session({ session: { ...first.session, parent } }))
    expect(read.parent).toEqual(parent)
  })

  it('gives the session with its last facts, and every entry with its origin', async () => {
    const lines = toLines([
      session(),
      entry(0),
      { t: 'update', session: { title: 'Later' } },
      end({ status: 'failed' }),
    ])
    const { session: read, entries, damage } = await readBytes(Buffer.concat(lines))
    expect(read).toEqual({ ...first.session, title: 'Later', status: 'failed' })
    expect(entries).toEqual([
      {
        ...sampleEntry(0),
        origin: {
          format: 'journal',
          file: 'journal-w.jsonl',
          record: 2,
          byteOffset: lines[0]?.length,
          byteLength: (lines[1]?.length ?? 0) - 1,
        },
      },
    ])
    expect(damage).toEqual([])
  })

  it('keeps what is no block as an unknown one, so that every view can go through it', async () => {
    const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { cmd: 'ls' } }
    const blocks: unknown[] = [{ type: 'text', text: 'hi' }, null, toolUse, { type: 'text', text: 42 }, 'x']
    const written = { ...sampleEntry(0), blocks } as ReturnType<typeof sampleEntry>
    const { entries } = await readRecords(session(), { t: 'entry', entry: written })
    expect(entries[0]?.blocks).toEqual([
      { type: 'text', text: 'hi' },
      { type: 'unknown', raw: null },
      { type: 'unknown', raw: toolUse },
      { type: 'unknown', raw: { type: 'text', text: 42 } },
      { type: 'unknown', raw: 'x' },
    ])
  })

  it('says which facts no line could hold', async () => {
    const title = 'x'.repeat(33 * 1024 * 1024)
    const { session: read, damage } = await readRecords(
      session({ session: { ...first.session, title } }),
      entry(0),
    )
    expect(read.title).toBe(`${'x'.repeat(1000)}…`)
    expect(damage).toMatchObject([{ kind: 'missing', reason: expect.stringContaining('title') }])
  })

  it('forgets what was apart of a fact that was said again', async () => {
    const ref = (n: number): BlobRef => ({ blob: `sha256:${n}`, bytes: 1, mediaType: 'application/json' })
    const { session: read } = await readRecords(
      session({ session: { ...first.session, title: 'a…', apart: { title: ref(1), input: ref(2) } } }),
      { t: 'update', session: { title: 'Later', error: 'e…', apart: { error: ref(3) } } },
    )
    expect(read).toMatchObject({ title: 'Later', error: 'e…' })
    expect(read.apart).toEqual({ input: ref(2), error: ref(3) })
  })

  it('says interrupted without a last line, and running while its writer lives', async () => {
    expect((await readRecords(session(), entry(0))).session.status).toBe('interrupted')
    const alive = session({ writer: createWriterId(), boot: bootId() })
    expect((await readRecords(alive, entry(0))).session.status).toBe('running')
    expect((await readRecords(alive, entry(0), end({ status: 'completed' }))).session.status).toBe(
      'completed',
    )
  })

  it('does not call the last line of a living writer torn', async () => {
    const alive = toLines([session({ writer: createWriterId(), boot: bootId() }), entry(0)])
    const dead = toLines([session(), entry(0)])
    const torn = Buffer.from('{"v":1,"seq":2,"mt":3,"t":"entry"')
    expect((await readBytes(Buffer.concat([...alive, torn]))).damage).toEqual([])
    expect((await readBytes(Buffer.concat([...dead, torn]))).damage).toMatchObject([{ kind: 'torn' }])
  })

  it('takes a fact back where a later record says so', async () => {
    const { session: read } = await readRecords(session(), { t: 'update', session: { cwd: null } })
    expect('cwd' in read).toBe(false)
  })

  it('shows what was not recorded, and what it does not know, as damage', async () => {
    const gap: JournalRecord = { t: 'gap', reason: 'disk full', lost: 3, at: '' }
    const { damage } = await readRecords(session(), gap, { t: 'later' } as never)
    expect(damage).toMatchObject([
      { kind: 'missing', line: 2, reason: '3 not recorded: disk full' },
      { kind: 'not-an-entry', line: 3 },
    ])
  })

  it('reads a folder of segments as one session, and several folders as several', async () => {
    const one = Buffer.concat(toLines([session(), entry(0), end({ status: 'completed' })]))
    const two = Buffer.concat(toLines([session({ writer: '2-2-w' }), entry(1)]))
    const other = Buffer.concat(toLines([session({ session: { id: 'other', status: 'running' } })]))
    const found = await readAll(
      journal,
      memorySource(
        new Map([
          ['sessions/a/journal-1.jsonl', one],
          ['sessions/a/journal-2.jsonl', two],
          ['sessions/a/journal-2.jsonl.damaged', Buffer.from('x')],
          ['sessions/b/journal-1.jsonl', other],
        ]),
      ),
    )
    expect(found.map(({ session }) => session.id)).toEqual([SESSION_ID, 'other'])
    expect(found[0]?.entries).toHaveLength(2)
  })

  it('reads what is left of a file without its first line', async () => {
    const lines = toLines([session(), entry(0), entry(1)])
    const [only] = await readAll(
      journal,
      memorySource(new Map([['sessions/s-1/journal-w.jsonl', Buffer.concat(lines.slice(1))]])),
    )
    expect(only?.session).toEqual({ id: 's-1', status: 'interrupted' })
    expect(only?.entries).toHaveLength(2)
    expect(only?.damage).toMatchObject([{ kind: 'missing' }])
  })

  it('goes on after an end when a later segment takes the session up again', async () => {
    const done = toLines([
      session(),
      entry(0),
      end({ status: 'completed', endedAt: '2026-01-01T00:00:01.000Z' }),
    ])
    const again = toLines([
      session({ writer: '2-2-w', boot: 'third', at: '2026-01-02T00:00:00.000Z' }),
      entry(1),
    ])
    const [found] = await readAll(
      journal,
      memorySource(
        new Map([
          ['journal-1.jsonl', Buffer.concat(done)],
          ['journal-2.jsonl', Buffer.concat(again)],
        ]),
      ),
    )
    expect(found?.session).toMatchObject({ status: 'interrupted' })
    expect(found?.session.endedAt).toBeUndefined()
  })

  it('is detected by its content', async () => {
    const bytes = Buffer.concat(toLines(sampleRecords(3)))
    const sure = async (name: string, content: Buffer | string): Promise<number | undefined> =>
      (await journal.detect(memoryFileSource(name, content)))?.confidence
    expect(await sure('anything.txt', bytes)).toBe(1)
    expect(await sure('anything.txt', Buffer.concat([Buffer.alloc(10), bytes]))).toBe(0.9)
    expect(await sure('journal-x.jsonl', '{"type":"user"}\n')).toBeUndefined()
    expect(await sure('journal-x.jsonl', '')).toBeUndefined()
  })
})

describe('any transcript as a journal', () => {
  it('reads back exactly as it was, begun whole or live', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, fc.boolean(), async (given, live) => {
        const { files, lost } = writeTranscript(journal, given, { live })
        const [only, ...others] = await readAll(journal, memorySource(files))
        expect(others).toEqual([])
        expect(lost).toEqual([])
        expect(withoutOrigins(only as Transcript)).toEqual(withoutOrigins(given))
        expect(only?.damage).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it('is the same bytes each time, and from journal to journal', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (given) => {
        const once = writeTranscript(journal, given)
        const [read] = await readAll(journal, memorySource(once.files))
        const twice = writeTranscript(journal, read as Transcript)
        expect([...twice.files.keys()]).toEqual([...once.files.keys()])
        expect([...twice.files.values()].map(String)).toEqual([...once.files.values()].map(String))
      }),
      { numRuns: 50 },
    )
  })

  it('never puts an id into a path unchecked, and leaves a taken name alone', () => {
    const evil = { session: { id: '../../etc', status: 'completed' as const }, entries: [] }
    for (const path of writeTranscript(journal, evil).files.keys())
      expect(path).toMatch(/^sessions\/[0-9a-f-]{36}\/journal-converted\.jsonl$/)
    const files = new Map([['sessions/s/journal-converted.jsonl', Buffer.from('here first')]])
    const written = writeTranscript(
      journal,
      { session: { id: 's', status: 'completed' }, entries: [] },
      { files },
    )
    expect(written.files.get('sessions/s/journal-converted.jsonl')?.toString()).toBe('here first')
    expect(written.files.has('sessions/s/journal-converted.1.jsonl')).toBe(true)
  })
})

describe('a writer', () => {
  it('is alive while its process is, and not by its number alone', () => {
    const own = createWriterId()
    expect(isWriterAlive(own, bootId())).toBe(true)
    expect(isWriterAlive(own, 'another boot')).toBe(false)
    const [pid] = own.split('-')
    if (fs.existsSync('/proc/self/stat')) expect(isWriterAlive(`${pid}-1-abc`, bootId())).toBe(false)
    expect(isWriterAlive('4194305-1-abc', bootId())).toBe(false)
    expect(isWriterAlive('converted', bootId())).toBe(false)
    expect(isWriterAlive('', '')).toBe(false)
  })
})

it('reads a real folder', async () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-format-'))
  fs.writeFileSync(join(folder, 'journal-w.jsonl'), Buffer.concat(toLines(sampleRecords(3))))
  const bytes = new Map(fs.readdirSync(folder).map((name) => [name, fs.readFileSync(join(folder, name))]))
  expect((await readAll(journal, memorySource(bytes)))[0]?.entries).toHaveLength(3)
  fs.rmSync(folder, { recursive: true })
})
