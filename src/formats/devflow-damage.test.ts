import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { ReadItem } from './format.ts'
import { devflow } from './devflow.ts'
import { readDocument, type Document } from './devflow/document.ts'

const METADATA = {
  flowId: 'ticket-to-pr',
  startedAt: '2025-01-15T10:30:00Z',
  endedAt: '2025-01-15T10:45:32Z',
  status: 'completed',
  totalTokensIn: 10,
  totalTokensOut: 20,
  totalCost: 0.5,
}
const TURNS = ['one', 'two — with a wide character', 'three "quoted" {[\\'].map((content, index) => ({
  id: index + 1,
  role: 'assistant',
  content,
  timestamp: '2025-01-15T10:30:00Z',
  toolCalls: [{ name: 'Bash', input: { command: ['ls', { deep: '}' }] }, output: content }],
}))
const DOCUMENT = { runId: 'r', metadata: METADATA, turns: TURNS }
/** NUL and what JSON is held together by. */
const BREAKERS = [0x00, 0x22, 0x7b, 0x7d, 0x5d]
const PRETTY = Buffer.from(JSON.stringify(DOCUMENT, null, 2))

describe('a document that is cut off', () => {
  it.each([
    ['pretty-printed', PRETTY],
    ['compact', Buffer.from(JSON.stringify(DOCUMENT))],
  ])('loses nothing but the turn it died in, wherever that was (%s)', async (_, whole) => {
    const ends = TURNS.map((turn) => endOf(whole, turn.id))
    for (let size = 0; size < whole.length; size += 1) {
      const { entries, damage, session } = await readBytes(whole.subarray(0, size))
      const complete = ends.filter((end) => end <= size).length
      expect(entries).toBe(complete * 2)
      expect(damage.length).toBeGreaterThan(0)
      for (const { byteOffset, byteLength } of damage)
        expect(byteOffset + byteLength).toBeLessThanOrEqual(size)
      if (complete > 0) expect(session?.reportedCost).toBe('0.5')
    }
    expect((await readBytes(whole)).damage).toEqual([])
  })

  it('says torn, and from which byte on', async () => {
    const { damage } = await readBytes(PRETTY.subarray(0, endOf(PRETTY, 2) - 5))
    const from = PRETTY.indexOf('    {\n      "id": 2') + 4
    expect(damage).toEqual([
      expect.objectContaining({ kind: 'torn', byteOffset: from, byteLength: endOf(PRETTY, 2) - 5 - from }),
    ])
  })

  it('keeps the facts that stand before the cut in the metadata', async () => {
    const cut = PRETTY.indexOf('"totalTokensOut"')
    const { session } = await readBytes(PRETTY.subarray(0, cut))
    expect(session).toMatchObject({
      status: 'completed',
      run: { id: 'r', flow: 'ticket-to-pr' },
      reportedUsage: { input: 10 },
    })
  })

  it('gives what a cut-off gzip file still holds', async () => {
    const packed = gzipSync(PRETTY, { level: 0 })
    const { entries, damage } = await readBytes(packed.subarray(0, packed.length - 40))
    expect(entries).toBeGreaterThanOrEqual(4)
    expect(damage[0]).toMatchObject({ kind: 'torn' })
  })
})

describe('a document that is damaged', () => {
  it('loses one turn at most to any one changed byte, and says so', async () => {
    const from = PRETTY.indexOf('"turns"')
    for (let at = from + 12; at < PRETTY.length - 6; at += 1) {
      for (const byte of [BREAKERS[at % 3], BREAKERS[3 + (at % 2)]] as number[]) {
        const bytes = Buffer.from(PRETTY)
        if (bytes[at] === byte) continue
        bytes[at] = byte
        const { turns, damage } = await readBytes(bytes)
        // A turn that is not read is damage; a changed character in a text or a key is only another text or key.
        const expected = { at, byte, atLeast: 2, isReported: true }
        expect({
          at,
          byte,
          atLeast: Math.min(2, turns),
          isReported: turns === 3 || damage.length > 0,
        }).toEqual(expected)
      }
    }
  })

  it('reads around a run of NULs', async () => {
    const bytes = Buffer.from(PRETTY)
    const at = bytes.indexOf('"id": 2')
    bytes.fill(0, at, at + 40)
    const { entries, damage } = await readBytes(bytes)
    expect(entries).toBe(4)
    expect(damage).toContainEqual(expect.objectContaining({ kind: 'nul', byteOffset: at, byteLength: 40 }))
  })

  it('reads bytes that are no UTF-8 with replacement characters, and says so', async () => {
    const bytes = Buffer.from(PRETTY)
    bytes[bytes.indexOf('one"')] = 0xff
    const { entries, damage } = await readBytes(bytes)
    expect(entries).toBe(6)
    expect(damage.map(({ kind }) => kind)).toEqual(['not-utf8'])
  })

  it.each([
    ['nothing', ''],
    ['NULs', '\0'.repeat(100)],
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0xfe])],
    ['a list', '[]'],
    ['a text', '"transcript"'],
    ['100,000 brackets', '['.repeat(100_000)],
    ['100,000 braces', '{"a":'.repeat(100_000)],
    ['a broken gzip', Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(50)])],
  ])('reports %s instead of throwing', async (_, content) => {
    const { entries, damage } = await readBytes(Buffer.from(content))
    expect(entries).toBe(0)
    expect(damage.length).toBeGreaterThan(0)
  })

  it('takes turns that are no turns as damage, one by one', async () => {
    const { entries, damage } = await readBytes(
      Buffer.from('{"runId":"r","metadata":{},"turns":[1,{"role":"user"},null,"x"]}'),
    )
    expect(entries).toBe(1)
    expect(damage.map(({ kind }) => kind)).toEqual(['not-an-entry', 'not-an-entry', 'not-an-entry'])
    expect((await readBytes(Buffer.from('{"runId":"r","turns":{}}'))).damage).toMatchObject([
      { kind: 'not-an-entry' },
    ])
    expect((await readBytes(Buffer.from('{"runId":"r","metadata":{},"turns":null}'))).damage).toEqual([])
  })

  it('reads a turn 100,000 levels deep, and a byte order mark', async () => {
    const deep = `{"runId":"r","metadata":{},"turns":[{"id":1,"role":"user","content":"x","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`
    expect(await readBytes(Buffer.from(`\uFEFF${deep}`))).toMatchObject({ entries: 1, damage: [] })
  })

  it('keeps a turn over 32 MB as one unknown', async () => {
    const large = Buffer.from(
      `{"runId":"r","metadata":{},"turns":[{"id":1,"content":"${'x'.repeat(33 * 1024 * 1024)}"},{"id":2,"role":"user"}]}`,
    )
    const { entries, damage } = await readBytes(large)
    expect(entries).toBe(2)
    expect(damage).toMatchObject([{ kind: 'too-large' }])
  })

  it('reads a document that is too large to be held as one that is, cut off at any byte', async () => {
    for (let size = 0; size <= PRETTY.length; size += 1) {
      const [file] = await memoryFileSource('t.json', PRETTY.subarray(0, size)).list()
      if (file === undefined) throw new Error('no file')
      const [large, held] = [await readDocument(file, { heldBytes: 0 }), await readDocument(file)]
      expect(await turnsOf(large)).toEqual(await turnsOf(held))
      expect(large.turnCount ?? 0).toBe(held.turnCount ?? 0)
      expect(large.damage.length > 0).toBe(held.damage.length > 0)
      expect({ ...large.members }).toEqual({ ...held.members })
    }
  })

  it('takes time linear in the size of a hostile document', async () => {
    /** Of the processor, the best of three: what else the machine does is no part of it. */
    const time = async (document: string): Promise<number> => {
      const times: number[] = []
      for (let round = 0; round < 3; round += 1) {
        const before = process.cpuUsage()
        await readBytes(Buffer.from(document))
        const { user, system } = process.cpuUsage(before)
        times.push((user + system) / 1000)
      }
      return Math.min(...times)
    }
    const hostile = (n: number): readonly string[] => [
      `{"runId":"r","metadata":{},"turns":[\n  ${'{"\n  '.repeat(n)}`,
      `{"runId":"r","metadata":{},"turns":[\n    ${'{'.repeat(n)}`,
      `{"a${'\\'.repeat(n)}"${'"'.repeat(n)}`,
      `{${'"a":,'.repeat(n)}`,
    ]
    const [small, large] = [hostile(20_000), hostile(200_000)]
    for (const [index, document] of small.entries()) {
      const once = Math.max(5, await time(document))
      // Ten times the size: quadratic work would take a hundred times as long.
      expect(await time(large[index] as string)).toBeLessThan(once * 40)
    }
  })
})

describe('a folder of runs', () => {
  const at = (path: string, name: string, value: unknown): Record<string, string> => ({
    [`${path}/${name}`]: JSON.stringify(value),
  })
  const summary = { runId: 'r', ...METADATA, turnCount: 3 }

  it.each(['', 'runs/', '.devflow/runs/', 'project/.devflow/runs/'])(
    'reads each run below %j, in the order of their names',
    async (above) => {
      const source = memorySource(
        files({
          ...at(`${above}b`, 'transcript.json', { ...DOCUMENT, runId: 'b' }),
          ...at(`${above}a`, 'transcript.json', { ...DOCUMENT, runId: 'a' }),
          ...at(`${above}a`, 'metadata.json', { ...summary, runId: 'a' }),
          ...at(`${above}c`, 'metadata.json', {
            ...summary,
            runId: 'c',
            status: 'running',
            endedAt: '0001-01-01T00:00:00Z',
            turnCount: 0,
          }),
          ...at(`${above}a/artifacts`, 'spec.json', {}),
          [`${above}index.json`]: '{"runs":[]}',
          'package.json': '{}',
        }),
      )
      expect((await devflow.detect(source))?.confidence).toBeGreaterThan(0.9)
      const read = await readAll(devflow, source)
      expect(
        read.map(({ session, entries, damage }) => [
          session.names?.['devflow'],
          session.status,
          entries.length,
          damage,
        ]),
      ).toEqual([
        ['a', 'completed', 6, []],
        ['b', 'completed', 6, []],
        ['c', 'running', 0, []],
      ])
    },
  )

  it('gives a run that crashed a session without entries, and says when an ended one has lost its transcript', async () => {
    const running = { ...summary, status: 'running', turnCount: 0 }
    expect(await readAll(devflow, memorySource(files(at('runs/r', 'metadata.json', running))))).toMatchObject(
      [{ session: { status: 'running' }, entries: [], damage: [] }],
    )
    expect(await readAll(devflow, memorySource(files(at('runs/r', 'metadata.json', summary))))).toMatchObject(
      [{ entries: [], damage: [{ kind: 'missing' }] }],
    )
  })

  it("gives a run of which nothing can be read a session of its folder's name", async () => {
    const [read] = await readAll(devflow, memorySource(files({ 'runs/x/transcript.json': '\0\0\0' })))
    expect(read).toMatchObject({
      session: { names: { devflow: 'x' }, status: 'interrupted' },
      entries: [],
      damage: [{ kind: 'nul' }],
    })
  })

  it("lets other programs' metadata.json be", async () => {
    const source = memorySource(
      files({ 'x/metadata.json': '{"name":"x","status":1}', 'x/transcript.json': '[]' }),
    )
    expect(await devflow.detect(source)).toBeUndefined()
    expect(await readAll(devflow, source)).toEqual([])
  })

  it('keeps two runs of one id apart', async () => {
    const read = await readAll(
      devflow,
      memorySource(
        files({ ...at('runs/a', 'transcript.json', DOCUMENT), ...at('runs/b', 'transcript.json', DOCUMENT) }),
      ),
    )
    expect(new Set(read.map(({ session }) => session.id)).size).toBe(2)
    expect(read[1]?.damage).toMatchObject([{ kind: 'mismatch' }])
  })

  it('takes the transcript where metadata.json was not brought up to date, and says so', async () => {
    const source = memorySource(
      files({
        ...at('r', 'metadata.json', { ...summary, status: 'running' }),
        ...at('r', 'transcript.json', DOCUMENT),
      }),
    )
    const [read] = await readAll(devflow, source)
    expect(read).toMatchObject({
      session: { status: 'completed' },
      damage: [{ kind: 'mismatch', file: 'r/metadata.json' }],
    })
    expect(read?.damage[0]?.reason).toContain('status')
  })

  describe('with both variants of the transcript', () => {
    const old = {
      ...DOCUMENT,
      metadata: { ...METADATA, endedAt: '2025-01-15T10:31:00Z' },
      turns: TURNS.slice(0, 1),
    }
    const [plain, gzip] = ['r/transcript.json', 'r/transcript.json.gz']
    const twins = (inPlain: unknown, inGzip: unknown, others: Record<string, string> = {}) =>
      files({
        [plain]: JSON.stringify(inPlain),
        [gzip]: gzipSync(JSON.stringify(inGzip)),
        ...others,
      })
    const newer = (path: string) => ({ modifiedAt: new Map([[path, '2025-02-02T00:00:00.000Z']]) })

    it.each([
      ['the plain one when it is newer', twins(DOCUMENT, old), newer(plain), gzip],
      ['the compressed one when it is newer', twins(old, DOCUMENT), newer(gzip), plain],
      ['the one that ended later when both were written together', twins(DOCUMENT, old), {}, gzip],
      [
        'the one that metadata.json agrees with, though it is older',
        twins(DOCUMENT, old, at('r', 'metadata.json', summary)),
        newer(gzip),
        gzip,
      ],
    ])('takes %s, and reports the other', async (_, twins, options, stale) => {
      const [read] = await readAll(devflow, memorySource(twins, options))
      expect(read?.entries).toHaveLength(6)
      expect(read?.damage).toMatchObject([{ kind: 'mismatch', file: stale }])
    })

    it('takes the newer one though it has fewer turns, when nothing else tells them apart', async () => {
      const shorter = { ...DOCUMENT, turns: TURNS.slice(0, 1) }
      const [read] = await readAll(devflow, memorySource(twins(shorter, DOCUMENT), newer(plain)))
      expect(read?.entries).toHaveLength(2)
      expect(read?.damage).toMatchObject([{ kind: 'mismatch', file: gzip }])
    })

    it('takes the whole one of two when the newer is cut off', async () => {
      const torn = files({ [plain]: PRETTY.subarray(0, 400), [gzip]: gzipSync(PRETTY) })
      const [read] = await readAll(devflow, memorySource(torn, newer(plain)))
      expect(read?.entries).toHaveLength(6)
    })

    it.each([
      ['agree', 'said before '],
      ['differ', 'said since. '],
    ])('leaves no file open when they are large and %s', async (_, said) => {
      const large = (text: string) => ({
        ...DOCUMENT,
        turns: TURNS.map((turn) => ({ ...turn, content: text.repeat(100_000) })),
      })
      const source = memorySource(twins(large('said before '), large(said)))
      let opened = 0
      let closed = 0
      const counted = (file: SourceFile): SourceFile => ({
        ...file,
        async *chunks(options) {
          opened += 1
          try {
            yield* file.chunks(options)
          } finally {
            closed += 1
          }
        },
      })
      const list = async () => (await source.list()).map(counted)
      const find = async (path: string) => (await list()).find((file) => file.path === path)
      const [read] = await readAll(devflow, { ...source, list, find })
      expect(read?.entries).toHaveLength(6)
      expect(opened).toBeGreaterThan(4)
      expect(closed).toBe(opened)
    })

    it('has nothing to report when they agree', async () => {
      expect((await readAll(devflow, memorySource(twins(DOCUMENT, DOCUMENT))))[0]?.damage).toEqual([])
    })
  })

  it('follows a named metadata.json to the transcript beside it', async () => {
    const folder = memorySource(
      files({
        ...at('.', 'x', 1),
        'metadata.json': JSON.stringify(summary),
        'transcript.json': JSON.stringify(DOCUMENT),
      }),
    )
    const file = (await folder.find('metadata.json')) ?? expect.fail('not found')
    const [read] = await readAll(devflow, { ...folder, kind: 'file', list: async () => [file] })
    expect(read?.entries).toHaveLength(6)
  })
})

describe('detect', () => {
  it.each([
    ['a transcript', JSON.stringify(DOCUMENT), true],
    ['a compressed one', gzipSync(PRETTY), true],
    ['one whose turns come first', JSON.stringify({ turns: TURNS, runId: 'r', metadata: METADATA }), true],
    ['one that is cut off', PRETTY.subarray(0, 300), true],
    [
      'one with a huge input',
      JSON.stringify({ runId: 'r', metadata: { input: { x: 'y'.repeat(200_000) } }, turns: [] }),
      true,
    ],
    ['another document', '{"metadata":{},"messages":[]}', false],
    ['lines of JSON', '{"type":"user"}\n{"type":"assistant"}\n', false],
    ['text', 'hello', false],
  ])('knows %s by its content', async (_, content, expected) => {
    expect((await devflow.detect(memoryFileSource('whatever.bin', content))) !== undefined).toBe(expected)
  })
})

async function readBytes(bytes: Buffer) {
  const items: ReadItem[] = []
  for await (const batch of devflow.read(memoryFileSource('transcript.json', bytes, { chunkBytes: 1 << 20 })))
    items.push(...batch)
  return {
    session: items.flatMap((item) => (item.type === 'session' ? [item.session] : []))[0],
    entries: items.filter((item) => item.type === 'entry').length,
    turns: items.filter((item) => item.type === 'entry' && !item.entry.id.includes('/')).length,
    damage: items.flatMap((item) => (item.type === 'damage' ? [item.damage] : [])),
  }
}

/** Behind the closing brace of a turn, which its tool call's output precedes. */
function endOf(bytes: Buffer, id: number): number {
  const next = bytes.indexOf(`"id":${bytes.includes('\n') ? ' ' : ''}${id + 1}`)
  return bytes.lastIndexOf('}', next === -1 ? bytes.length - 3 : bytes.lastIndexOf('{', next)) + 1
}

async function turnsOf(document: Document): Promise<readonly unknown[]> {
  const all: unknown[] = []
  for await (const { turns, damage } of document.turns()) all.push(...turns, ...damage)
  return all
}
