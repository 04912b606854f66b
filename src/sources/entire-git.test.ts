import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { addCommits, createRepository, type TestCommit } from '../../test/git-repository.ts'
import { heldBytes } from '../../test/held-bytes.ts'
import { readAll } from '../../test/memory-files.ts'
import { entire } from '../formats/entire.ts'
import { createTotals } from '../archive/priced-totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { detect } from './detect.ts'
import { openEntireRepository, type EntireSource } from './entire-git.ts'
import { allFormats } from './formats.ts'
import { openFiles } from './open-files.ts'

const S1 = '11111111-1111-4111-8111-111111111111'
const V1 = 'refs/heads/entire/checkpoints/v1'

/** Lines as Claude Code writes them, one call of 10 tokens each. */
const lines = (from: number, to: number, session = S1): string =>
  Array.from({ length: to - from }, (_, at) => {
    const n = from + at
    const usage = { input_tokens: 1, output_tokens: 10 }
    const message = {
      id: `msg_${session}_${n}`,
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: `t${n}` }],
      stop_reason: 'end_turn',
      usage,
    }
    const line = {
      parentUuid: null,
      isSidechain: false,
      userType: 'external',
      cwd: '/x',
      sessionId: session,
      version: '2.1.0',
      type: 'assistant',
      requestId: `r${n}`,
      message,
      uuid: `${session}-${n}`,
      timestamp: `2026-02-10T10:00:${String(n).padStart(2, '0')}.000Z`,
    }
    return `${JSON.stringify(line)}\n`
  }).join('')
const facts = (checkpoint: string, at: number, session = S1): string =>
  JSON.stringify({
    checkpoint_id: checkpoint,
    session_id: session,
    strategy: 'manual-commit',
    created_at: `2026-02-10T11:00:0${at}Z`,
    branch: 'main',
    files_touched: [`f${at}.ts`],
    agent: 'Cursor',
    initial_attribution: { agent_lines: at },
  })
const sha = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`

const open = async (commits: readonly TestCommit[]): Promise<EntireSource> => {
  const source = await openEntireRepository(createRepository(commits))
  if (source === undefined) throw new Error('none of Entire’s refs')
  return source
}
const pathsOf = async (source: EntireSource): Promise<readonly string[]> =>
  (await source.list()).map(({ path }) => path)
const textOf = async (source: EntireSource, path: string): Promise<string | undefined> =>
  (await (await source.find(path))?.bytes(1e9))?.toString('utf8')
const outputOf = ({ session, entries }: Transcript): number | undefined => {
  const totals = createTotals()
  for (const entry of entries) totals.add(entry, session.model)
  return totals.totals(undefined).usage?.output
}

describe('checkpoints on one branch', () => {
  const commits: readonly TestCommit[] = [
    {
      ref: V1,
      files: {
        'ab/cdef012345/metadata.json': JSON.stringify({
          checkpoint_id: 'abcdef012345',
          strategy: 'x',
          sessions: [],
        }),
        'ab/cdef012345/0/metadata.json': facts('abcdef012345', 1, `2026-02-10-${S1}`),
        'ab/cdef012345/0/full.jsonl': lines(0, 2),
        'ab/cdef012345/0/prompt.txt': 'one',
        'ab/cdef012345/0/content_hash.txt': sha(lines(0, 2)),
        'ab/cdef012345/1/metadata.json': facts('abcdef012345', 1, 'other'),
        'ab/cdef012345/1/full.jsonl': lines(0, 1, 'other'),
      },
    },
    {
      ref: V1,
      files: {
        '12/3456789012/0/metadata.json': facts('123456789012', 2),
        '12/3456789012/0/full.jsonl': lines(0, 5),
        '12/3456789012/0/prompt.txt': 'one two',
        '12/3456789012/0/content_hash.txt': sha(lines(0, 5)),
        '12/3456789012/metadata.json': '{"checkpoint_id":"123456789012"}',
      },
    },
  ]

  it('are arranged by session, the newest transcript of each', async () => {
    const source = await open(commits)
    expect(await pathsOf(source)).toEqual([
      `${S1}/checkpoints/123456789012/checkpoint.json`,
      `${S1}/checkpoints/123456789012/metadata.json`,
      `${S1}/checkpoints/123456789012/prompt.txt`,
      `${S1}/checkpoints/abcdef012345/checkpoint.json`,
      `${S1}/checkpoints/abcdef012345/metadata.json`,
      `${S1}/checkpoints/abcdef012345/prompt.txt`,
      `${S1}/content_hash.txt`,
      `${S1}/full.jsonl`,
      'other/checkpoints/abcdef012345/metadata.json',
      'other/full.jsonl',
    ])
    expect(await textOf(source, `${S1}/full.jsonl`)).toBe(lines(0, 5))
    expect((await source.find(`${S1}/full.jsonl`))?.sizeBytes).toBe(Buffer.byteLength(lines(0, 5)))
    expect(source.damage()).toEqual([])
  })

  it('are one session each, with every call once and each checkpoint as an event', async () => {
    const source = await open(commits)
    expect((await detect(source, { formats: allFormats }))?.format.id).toBe('entire')
    const [first, second, ...more] = await readAll(entire, source)
    expect(more).toEqual([])
    expect(first?.session).toMatchObject({
      native: { agent: 'claude-code', sessionId: S1 },
      names: { entire: S1 },
      agent: 'claude-code',
      git: { branch: 'main' },
      metadata: { entire: { prompt: 'one two' } },
    })
    expect(second?.session.native?.sessionId).toBe('other')
    expect(first && outputOf(first)).toBe(50)
    expect(first?.damage).toEqual([])
    const events = first?.entries.filter(({ metadata }) => metadata?.['record'] === 'checkpoint')
    expect(events?.map(({ blocks }) => blocks[0])).toMatchObject([
      { raw: { checkpoint_id: 'abcdef012345' } },
      { raw: { files_touched: ['f1.ts'], initial_attribution: { agent_lines: 1 } } },
      { raw: { checkpoint_id: '123456789012' } },
      { raw: { files_touched: ['f2.ts'] } },
    ])
  })

  it('lose no file that nobody here knows, wherever in the checkpoint it lies', async () => {
    const source = await open([
      {
        ref: V1,
        files: {
          'ab/cdef012345/metadata.json': '{"checkpoint_id":"abcdef012345"}',
          'ab/cdef012345/attribution.json': '{"lines":7}',
          'ab/cdef012345/0/metadata.json': facts('abcdef012345', 1),
          'ab/cdef012345/0/full.jsonl': lines(0, 2),
          'ab/cdef012345/0/review.json': '{"verdict":"good"}',
          'ab/cdef012345/0/assets/1/notes.txt': 'a note',
        },
      },
    ])
    const folder = `${S1}/checkpoints/abcdef012345/other`
    expect((await pathsOf(source)).filter((path) => path.startsWith(folder))).toEqual([
      `${folder}/0/assets/1/notes.txt`,
      `${folder}/0/review.json`,
      `${folder}/attribution.json`,
    ])
    const [only, ...others] = await readAll(entire, source)
    expect(others).toEqual([])
    const files = only?.entries.filter(({ metadata }) => metadata?.['record'] === 'file')
    expect(files?.map(({ blocks }) => blocks[0])).toEqual([
      { type: 'text', text: 'a note' },
      { type: 'unknown', raw: { verdict: 'good' } },
      { type: 'unknown', raw: { lines: 7 } },
    ])
  })

  it('have the same stamp until a ref moves', async () => {
    const repository = createRepository(commits)
    const stamp = async () => (await openEntireRepository(repository))?.stamp
    const before = await stamp()
    expect(await stamp()).toBe(before)
    addCommits(repository, [{ ref: V1, files: { 'ff/0000000000/0/full.jsonl': lines(0, 6) } }])
    expect(await stamp()).not.toBe(before)
  })
})

describe('a transcript that did not only grow', () => {
  it('keeps what the newest lacks, once, and counts no call twice', async () => {
    const source = await open([
      {
        ref: V1,
        files: {
          'aa/0000000001/0/metadata.json': facts('aa0000000001', 1),
          'aa/0000000001/0/full.jsonl': lines(0, 2),
        },
      },
      {
        ref: V1,
        files: {
          'aa/0000000002/0/metadata.json': facts('aa0000000002', 2),
          'aa/0000000002/0/full.jsonl': lines(0, 4),
        },
      },
      {
        ref: V1,
        files: {
          'aa/0000000003/0/metadata.json': facts('aa0000000003', 3),
          'aa/0000000003/0/full.jsonl': lines(0, 3) + lines(7, 9),
        },
      },
    ])
    expect((await pathsOf(source)).filter((path) => path.endsWith('full.jsonl'))).toEqual([
      `${S1}/full.jsonl`,
      `${S1}/older/aa0000000002/full.jsonl`,
    ])
    const [only, ...more] = await readAll(entire, source)
    expect(more).toEqual([])
    const messages = only?.entries.filter(({ kind }) => kind === 'message') ?? []
    expect(messages.map(({ id }) => id)).toEqual([3, 0, 1, 2, 7, 8].map((n) => `${S1}-${n}`))
    expect(only && outputOf(only)).toBe(60)
    expect(only?.damage).toEqual([])
    const [gone] = messages
    const bytes = Buffer.from((await textOf(source, gone?.origin?.file ?? '')) ?? '')
    const { byteOffset = 0, byteLength = 0 } = gone?.origin ?? {}
    expect(bytes.toString('utf8', byteOffset, byteOffset + byteLength)).toContain('"t3"')
  })

  it('is a document: entries that the newest has are not given again', async () => {
    const message = (n: number, text: string) => ({
      info: { id: `msg_${n}`, sessionID: 'ses_1', role: 'user', time: { created: n } },
      parts: [{ id: `prt_${n}`, sessionID: 'ses_1', messageID: `msg_${n}`, type: 'text', text }],
    })
    const document = (...messages: readonly object[]) =>
      JSON.stringify(
        { info: { id: 'ses_1', version: '1.2.20', directory: '/x', time: { created: 1 } }, messages },
        undefined,
        2,
      )
    const source = await open([
      {
        ref: V1,
        files: {
          'aa/0000000001/0/metadata.json': facts('aa0000000001', 1, 'ses_1'),
          'aa/0000000001/0/full.jsonl': document(message(1, 'a'), message(2, 'gone')),
        },
      },
      {
        ref: V1,
        files: {
          'aa/0000000002/0/metadata.json': facts('aa0000000002', 2, 'ses_1'),
          'aa/0000000002/0/full.jsonl': document(message(1, 'a'), message(3, 'b')),
        },
      },
    ])
    const [only, ...more] = await readAll(entire, source)
    expect(more).toEqual([])
    expect(only?.session).toMatchObject({ agent: 'opencode', native: { sessionId: 'ses_1' } })
    const texts = only?.entries.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
    )
    expect(texts).toEqual(['a', 'b', 'gone'])
    const ids = only?.entries.map(({ id }) => id) ?? []
    expect(new Set(ids).size).toBe(ids.length)
    expect(only?.entries.map(({ sequence }) => sequence)).toEqual(ids.map((_, at) => at))
  })
})

describe('the other layouts', () => {
  it('v2: facts in one ref and raw transcripts in others make one checkpoint', async () => {
    const source = await open([
      {
        ref: 'refs/entire/checkpoints/v2/main',
        files: {
          'ab/cdef012345/0/metadata.json': facts('abcdef012345', 1),
          'ab/cdef012345/0/transcript.jsonl': '{"v":1,"type":"user","content":[{"text":"x"}]}\n',
        },
      },
      {
        ref: 'refs/entire/checkpoints/v2/full/current',
        files: { 'ab/cdef012345/0/raw_transcript': lines(0, 3), 'generation.json': '{}' },
      },
      {
        ref: 'refs/entire/checkpoints/v2/full/0000000000001',
        files: { 'aa/0000000001/0/raw_transcript': lines(0, 1) },
      },
      {
        ref: 'refs/entire/checkpoints/v2/main',
        files: { 'aa/0000000001/0/metadata.json': facts('aa0000000001', 0) },
      },
    ])
    expect((await pathsOf(source)).filter((path) => path.includes('jsonl'))).toEqual([`${S1}/full.jsonl`])
    expect(await textOf(source, `${S1}/full.jsonl`)).toBe(lines(0, 3))
  })

  it('a ref for each checkpoint, whose tree need not name it; compact where nothing else is', async () => {
    const compact = `${JSON.stringify({ v: 1, agent: 'copilot-cli', type: 'user', content: [{ text: 'hi' }] })}\n`
    const source = await open([
      {
        ref: 'refs/entire/checkpoints/0D/01KXGTTNGCEACC83QZEJ5YAF0D',
        files: {
          'metadata.json': '{"checkpoint_id":"01KXGTTNGCEACC83QZEJ5YAF0D"}',
          '0/metadata.json': facts('01KXGTTNGCEACC83QZEJ5YAF0D', 1, 'c1'),
          '0/transcript.jsonl': compact,
        },
      },
      {
        ref: 'refs/entire/checkpoints/0E/01KXGTTNGCEACC83QZEJ5YAF0E',
        files: {
          '0/metadata.json': facts('01KXGTTNGCEACC83QZEJ5YAF0E', 2, 'c2'),
          '0/full.jsonl': lines(0, 1, 'c2'),
        },
      },
    ])
    expect(await pathsOf(source)).toEqual([
      'c1/checkpoints/01KXGTTNGCEACC83QZEJ5YAF0D/checkpoint.json',
      'c1/checkpoints/01KXGTTNGCEACC83QZEJ5YAF0D/metadata.json',
      'c1/transcript.jsonl',
      'c2/checkpoints/01KXGTTNGCEACC83QZEJ5YAF0E/metadata.json',
      'c2/full.jsonl',
    ])
    const all = await readAll(entire, source)
    expect(all.map(({ session }) => session.agent)).toEqual(['copilot-cli', 'claude-code'])
  })

  it('shadow branches: only what Entire put there, newer than the last checkpoint', async () => {
    const source = await open([
      {
        ref: V1,
        at: 1_770_000_000,
        files: {
          'aa/0000000001/0/full.jsonl': lines(0, 1),
          'aa/0000000001/0/metadata.json': facts('aa0000000001', 1),
        },
      },
      {
        ref: 'refs/heads/entire/1a2b3c4-e3b0c4',
        at: 1_790_000_000,
        files: {
          'src/index.ts': 'x',
          [`.entire/metadata/2026-02-10-${S1}/full.jsonl`]: lines(0, 2),
          [`.entire/metadata/2026-02-10-${S1}/tasks/toolu_1/agent-a1.jsonl`]: lines(3, 4),
        },
      },
      { ref: 'refs/heads/main', files: { 'src/index.ts': 'x' } },
    ])
    expect(await pathsOf(source)).toEqual([
      `${S1}/checkpoints/aa0000000001/metadata.json`,
      `${S1}/full.jsonl`,
      `${S1}/tasks/toolu_1/agent-a1.jsonl`,
    ])
    const [only] = await readAll(entire, source)
    expect(only?.entries.map(({ source }) => source)).toContain('subagent:a1')
    expect(only && outputOf(only)).toBe(30)
  })

  it('chunks are joined in order, with the newline that none of them has', async () => {
    const whole = lines(0, 6)
    const half = lines(0, 3)
    for (const first of [half, half.trimEnd()]) {
      const source = await open([
        {
          ref: V1,
          files: {
            'aa/0000000001/0/full.jsonl': lines(0, 2),
            'aa/0000000001/0/metadata.json': facts('aa0000000001', 1),
          },
        },
        {
          ref: V1,
          files: {
            'aa/0000000002/0/full.jsonl': first,
            'aa/0000000002/0/full.jsonl.001': lines(3, 5),
            'aa/0000000002/0/metadata.json': facts('aa0000000002', 2),
          },
        },
        {
          ref: V1,
          files: {
            'aa/0000000003/0/full.jsonl': first,
            'aa/0000000003/0/full.jsonl.001': lines(3, 5),
            'aa/0000000003/0/full.jsonl.002': lines(5, 6),
            'aa/0000000003/0/metadata.json': facts('aa0000000003', 3),
          },
        },
      ])
      expect((await pathsOf(source)).filter((path) => path.includes('full'))).toEqual([`${S1}/full.jsonl`])
      expect(await textOf(source, `${S1}/full.jsonl`)).toBe(whole)
    }
  })
})

describe('thousands of checkpoints', () => {
  it('are listed in a few hundred bytes each', async () => {
    const files: Record<string, string> = {}
    for (let n = 0; n < 3000; n += 1) {
      const id = n.toString(16).padStart(12, '0')
      const said = {
        session_id: S1,
        checkpoint_id: id,
        created_at: '2026-02-10T00:00:00Z',
        files_touched: ['a'],
      }
      files[`${id.slice(0, 2)}/${id.slice(2)}/0/metadata.json`] = JSON.stringify(said)
    }
    const repository = createRepository([{ ref: V1, files }])
    const listOne = async (): Promise<void> => {
      const [one] = Object.entries(files).slice(0, 1)
      const small = createRepository([{ ref: V1, files: Object.fromEntries(one ? [one] : []) }])
      await (await openEntireRepository(small))?.list()
      fs.rmSync(small, { recursive: true, force: true })
    }
    // What is loaded and compiled for it stays, and is no part of a list.
    for (let n = 0; n < 3; n += 1) await listOne()
    const before = heldBytes()
    const source = await openEntireRepository(repository)
    const listed = (await source?.list()) ?? []
    const held = heldBytes() - before
    expect(listed).toHaveLength(3000)
    // A path of 80 characters, an id, and what tells how to read it.
    expect(held / listed.length).toBeLessThan(900)
    expect((await listed[7]?.bytes(1000))?.toString()).toContain(S1)
    fs.rmSync(repository, { recursive: true, force: true })
  })
})

const gitIn = (repository: string, input: string | Buffer, ...args: string[]): string =>
  execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8', input }).trim()
const commitTree = (repository: string, ref: string, tree: string): void => {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b.c']
  const commit = gitIn(repository, '', ...who, 'commit-tree', '-m', 'x', tree)
  gitIn(repository, '', 'update-ref', ref, commit)
}

describe('units that are read where they lie', () => {
  const S2 = S1.replaceAll('1', '2')
  const checkpoint = (name: string, session: string, from: number) => ({
    [`${name.slice(0, 2)}/${name.slice(2)}/0/full.jsonl`]: lines(from, from + 2, session),
    [`${name.slice(0, 2)}/${name.slice(2)}/0/metadata.json`]: facts(name, 1, session),
    [`${name.slice(0, 2)}/${name.slice(2)}/metadata.json`]: JSON.stringify({
      checkpoint_id: name,
      sessions: [],
    }),
  })
  const first = checkpoint('a1b2c3d4e5f6', S1, 0)
  const files = { ...first, ...checkpoint('b1b2c3d4e5f6', S2, 0) }

  it('have one listing of their repository until a ref moves', async () => {
    const repository = createRepository([{ ref: V1, files: first }])
    const paths = await pathsOf((await openEntireRepository(repository)) as EntireSource)
    const listed = async (): Promise<readonly string[]> =>
      (await (await openFiles(`git:${repository}`, paths)).list()).map(({ path }) => path)
    expect(await listed()).toEqual(paths)
    // Whoever lists it anew finds no tree.
    const [objects, away] = [join(repository, '.git', 'objects'), join(repository, '.git', 'away')]
    fs.renameSync(objects, away)
    fs.mkdirSync(objects)
    expect(await listed()).toEqual(paths)
    fs.rmdirSync(objects)
    fs.renameSync(away, objects)
    addCommits(repository, [{ ref: V1, files }])
    const found = await openFiles(`git:${repository}`, paths)
    expect(await found.find(paths[0] ?? '')).toBeDefined()
    const all = await pathsOf((await openEntireRepository(repository)) as EntireSource)
    expect(all.length).toBeGreaterThan(paths.length)
    expect((await (await openFiles(`git:${repository}`, all)).list()).map(({ path }) => path)).toEqual(all)
  })

  it('are listed anew after a listing that failed', async () => {
    const repository = createRepository([{ ref: V1, files: first }])
    const paths = await pathsOf((await openEntireRepository(repository)) as EntireSource)
    const opened = await openFiles(`git:${repository}`, paths)
    vi.stubEnv('PATH', '')
    await expect(opened.list()).rejects.toThrow()
    vi.unstubAllEnvs()
    const again = await openFiles(`git:${repository}`, paths)
    expect((await again.list()).map(({ path }) => path)).toEqual(paths)
  })
})

describe('a damaged or hostile repository', () => {
  it('without Entire’s refs, or none at all, is none', async () => {
    expect(
      await openEntireRepository(createRepository([{ ref: 'refs/heads/main', files: { a: 'x' } }])),
    ).toBeUndefined()
    expect(await openEntireRepository(fs.mkdtempSync(join(os.tmpdir(), 'hansard-none-')))).toBeUndefined()
  })

  it('gives everything but what is damaged, and says what that is', async () => {
    const repository = createRepository([
      {
        ref: V1,
        files: {
          'aa/0000000001/0/full.jsonl': lines(0, 2),
          'aa/0000000001/0/metadata.json': facts('aa0000000001', 1),
        },
      },
      {
        ref: V1,
        files: {
          'bb/0000000001/0/full.jsonl': lines(0, 3, 'other'),
          'bb/0000000001/0/metadata.json': facts('bb0000000001', 1, 'other'),
        },
      },
      {
        ref: 'refs/entire/checkpoints/0D/01KXGTTNGCEACC83QZEJ5YAF0D',
        files: { '0/full.jsonl': lines(0, 1, 'third') },
      },
    ])
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' }).trim()
    // Objects on their own, so that one can be taken away.
    const pack = join(repository, '.git/objects/pack')
    const away = fs.mkdtempSync(join(os.tmpdir(), 'hansard-pack-'))
    for (const name of fs.readdirSync(pack)) fs.renameSync(join(pack, name), join(away, name))
    for (const name of fs.readdirSync(away).filter((name) => name.endsWith('.pack')))
      execFileSync('git', ['-C', repository, 'unpack-objects', '-q'], {
        input: fs.readFileSync(join(away, name)),
      })
    const lose = (id: string): void =>
      fs.rmSync(join(repository, '.git/objects', id.slice(0, 2), id.slice(2)))
    lose(git('rev-parse', `${V1}:aa/0000000001/0/full.jsonl`))
    lose(git('rev-parse', 'refs/entire/checkpoints/0D/01KXGTTNGCEACC83QZEJ5YAF0D^{tree}'))
    const source = await openEntireRepository(repository)
    const all = source === undefined ? [] : await readAll(entire, source)
    expect(all.map(({ session }) => session.names?.['entire'])).toEqual([S1, 'other'])
    expect(all[1]?.entries.filter(({ kind }) => kind === 'message')).toHaveLength(3)
    expect(
      source
        ?.damage()
        .map(({ file }) => file)
        .sort(),
    ).toEqual([`${S1}/full.jsonl`, 'refs/entire/checkpoints/0D/01KXGTTNGCEACC83QZEJ5YAF0D'])
  })

  it('is refused where a few trees hold each other so often that nobody comes to their end', async () => {
    const repository = createRepository([])
    let tree = gitIn(repository, '', 'mktree')
    for (let level = 0; level < 9; level += 1) {
      const entries = Array.from({ length: 12 }, (_, n) => `040000 tree ${tree}\t${n + 10}\n`)
      tree = gitIn(repository, entries.join(''), 'mktree')
    }
    commitTree(repository, V1, tree)
    await expect((await openEntireRepository(repository))?.list()).rejects.toMatchObject({
      code: 'too-large',
    })
  })

  it('lacks what is missing of a transcript also where that is packed, and torn without it', async () => {
    const repository = createRepository([])
    const packed = gzipSync(lines(0, 20))
    const half = gitIn(repository, packed.subarray(0, packed.length / 2), 'hash-object', '-w', '--stdin')
    const chunks = [`${half}\tfull.jsonl`, `${'e'.repeat(40)}\tfull.jsonl.001`]
    const slot = gitIn(
      repository,
      chunks.map((chunk) => `100644 blob ${chunk}\n`).join(''),
      'mktree',
      '--missing',
    )
    const root = gitIn(repository, `040000 tree ${slot}\t0\n`, 'mktree')
    commitTree(repository, 'refs/entire/checkpoints/0D/01KXGTTNGCEACC83QZEJ5YAF0D', root)
    const source = await openEntireRepository(repository)
    const [file] = (await source?.list()) ?? []
    expect((await file?.bytes(1e9))?.length).toBeGreaterThan(0)
    expect([source?.isWhole(file?.path ?? ''), source?.damage().map(({ kind }) => kind)]).toEqual([
      false,
      ['missing'],
    ])
  })

  it('runs no program that it names, and takes no name that climbs', async () => {
    const repository = createRepository([
      {
        ref: V1,
        files: {
          'aa/0000000001/0/full.jsonl': lines(0, 2),
          'aa/0000000001/0/metadata.json': facts('aa0000000001', 1, '../../../etc/passwd'),
        },
      },
    ])
    const mark = join(repository, 'mark')
    const program = join(repository, 'program.sh')
    fs.writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
    const settings = {
      'core.fsmonitor': program,
      'core.pager': program,
      'core.alternateRefsCommand': program,
      'core.hooksPath': repository,
      'diff.external': program,
      'filter.x.smudge': program,
      'alias.cat-file': `!${program}`,
    }
    for (const [key, value] of Object.entries(settings))
      execFileSync('git', ['-C', repository, 'config', key, value])
    const source = await openEntireRepository(repository)
    const paths = source === undefined ? [] : await pathsOf(source)
    expect(paths.every((path) => !path.includes('..'))).toBe(true)
    expect(source && (await readAll(entire, source))).toHaveLength(1)
    expect(fs.existsSync(mark)).toBe(false)
  })
})
