import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import { HansardError } from '../errors.ts'
import { textOf } from '../transcript/block.ts'
import { citation } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { createPairing } from '../transcript/tools.ts'
import { createCallFold } from '../transcript/totals.ts'
import { turns, type Transcript } from '../transcript/transcript.ts'
import { opencode } from './opencode.ts'
import { toTree } from './opencode-tree.ts'

type Fields = Record<string, unknown>
const MS = 1_770_000_000_000
const AT = (ms: number): string => new Date(MS + ms).toISOString()
const INFO = {
  id: 'ses_one',
  slug: 'calm-otter',
  projectID: 'p1',
  directory: '/home/me/demo',
  title: 'Mend the gate',
  version: '1.2.20',
  time: { created: MS, updated: MS + 9000 },
}
const TOKENS = { total: 1170, input: 20, output: 150, reasoning: 100, cache: { read: 900, write: 100 } }

const user = (id: string, text: string, more: Fields = {}) => ({
  info: { id, sessionID: 'ses_one', role: 'user', time: { created: MS + 1000 }, agent: 'build', ...more },
  parts: [part({ id: `${id}-p`, messageID: id, type: 'text', text })],
})
const assistant = (id: string, parts: readonly unknown[], more: Fields = {}) => ({
  info: {
    id,
    sessionID: 'ses_one',
    role: 'assistant',
    parentID: 'msg_u',
    modelID: 'claude-opus-4-6',
    providerID: 'anthropic',
    time: { created: MS + 2000, completed: MS + 5000 },
    path: { cwd: '/home/me/demo', root: '/' },
    cost: 0.012,
    tokens: TOKENS,
    finish: 'stop',
    ...more,
  },
  parts,
})
function part(fields: Fields): Fields {
  return { sessionID: 'ses_one', ...fields }
}
const tool = (id: string, callID: string, state: Fields, name = 'bash') =>
  part({ id, messageID: 'msg_2', type: 'tool', callID, tool: name, state })
const done = (output: string, more: Fields = {}) => ({
  status: 'completed',
  input: { command: 'ls' },
  output,
  title: 'ls',
  metadata: { exit: 0 },
  time: { start: MS + 2500, end: MS + 3100 },
  ...more,
})
const finish = (tokens: unknown = TOKENS) =>
  part({ id: 'fin', messageID: 'msg_2', type: 'step-finish', reason: 'stop', cost: 0.012, tokens })

const toExport = (messages: readonly unknown[], info: Fields = INFO): string =>
  JSON.stringify({ info, messages }, undefined, 2)
async function readText(text: string | Buffer): Promise<Transcript> {
  const [read] = await readAll(opencode, memoryFileSource('full.jsonl', text))
  return read as Transcript
}
const readExport = (messages: readonly unknown[], info: Fields = INFO) => readText(toExport(messages, info))
const messagesOf = ({ entries }: Transcript) => entries.filter(({ kind }) => kind === 'message')

function totals({ entries }: Transcript) {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}

describe('an OpenCode export', () => {
  it('gives the session’s facts, a message for each part that says something, and an event for the rest', async () => {
    const read = await readExport([
      user('msg_u', 'mend it'),
      assistant('msg_a', [
        part({ id: 'p1', type: 'step-start', snapshot: 'abc' }),
        part({ id: 'p2', type: 'reasoning', text: 'hm', time: { start: MS + 2100, end: MS + 2400 } }),
        tool('p3', 'call_1', done('a.txt')),
        part({ id: 'p4', type: 'text', text: 'mended', time: { start: MS + 4000 } }),
        finish(),
        part({ id: 'p6', type: 'patch', hash: 'ff', files: ['a.txt'] }),
      ]),
    ])
    expect(read.damage).toEqual([])
    expect(read.session).toMatchObject({
      id: uuidFrom('opencode', 'ses_one'),
      native: { agent: 'opencode', sessionId: 'ses_one' },
      title: 'Mend the gate',
      cwd: '/home/me/demo',
      version: '1.2.20',
      model: 'claude-opus-4-6',
      startedAt: AT(0),
      endedAt: AT(9000),
      reportedCost: '0.012',
      metadata: { opencode: { slug: 'calm-otter', projectID: 'p1' } },
    })
    expect(messagesOf(read).map(({ role, blocks }) => [role, blocks[0]?.type, textOf(blocks)])).toEqual([
      ['user', 'text', 'mend it'],
      ['assistant', 'thinking', ''],
      ['assistant', 'tool-call', ''],
      ['tool', 'tool-result', ''],
      ['assistant', 'text', 'mended'],
    ])
    const [, thought, call, result, text] = messagesOf(read)
    expect(thought).toMatchObject({
      at: AT(2100),
      durationMs: 300,
      parent: 'msg_a',
      model: 'claude-opus-4-6',
    })
    expect(call?.blocks).toEqual([
      { type: 'tool-call', callId: 'call_1', name: 'bash', input: { command: 'ls' } },
    ])
    expect(result).toMatchObject({
      at: AT(3100),
      durationMs: 600,
      blocks: [{ type: 'tool-result', callId: 'call_1', name: 'bash', output: 'a.txt' }],
      metadata: { state: { status: 'completed', title: 'ls', metadata: { exit: 0 } } },
    })
    expect(text).toMatchObject({
      stopReason: 'stop',
      call: { provider: 'anthropic', messageId: 'msg_a' },
      usage: { quality: 'reported', raw: TOKENS },
    })
    const records = read.entries
      .filter(({ kind }) => kind === 'event')
      .map(({ metadata }) => metadata?.['record'])
    expect(records).toEqual(['session', 'message', 'message', 'step-start', 'step-finish', 'patch'])
    expect(turns(read.entries).map(({ entries }) => entries.length)).toEqual([1, 3, 1])
  })

  it('a failed call says so; one that runs has no result; pictures are pictures', async () => {
    const picture = { mime: 'image/png', url: 'data:image/png;base64,AAAA' }
    const read = await readExport([
      assistant('msg_a', [
        tool('p1', 'c1', {
          status: 'error',
          input: {},
          error: 'no such file',
          time: { start: MS, end: MS + 5 },
        }),
        tool('p2', 'c2', { status: 'running', input: {}, time: { start: MS } }),
        tool('p3', 'c3', done('seen', { attachments: [picture] })),
        part({ id: 'p4', type: 'file', ...picture, filename: 'x.png' }),
        part({ id: 'p5', type: 'file', mime: 'text/plain', url: 'file:///x' }),
      ]),
    ])
    const blocks = messagesOf(read).map((entry) => entry.blocks[0])
    expect(blocks[1]).toEqual({
      type: 'tool-result',
      callId: 'c1',
      name: 'bash',
      error: 'no such file',
      isError: true,
    })
    expect(blocks[2]).toMatchObject({ type: 'tool-call', callId: 'c2' })
    expect(messagesOf(read)[2]?.metadata).toMatchObject({ state: { status: 'running', time: { start: MS } } })
    expect(blocks[4]).toMatchObject({
      output: [
        { type: 'text', text: 'seen' },
        { type: 'image', data: 'AAAA' },
      ],
    })
    expect(blocks[5]).toEqual({ type: 'image', mediaType: 'image/png', data: 'AAAA' })
    expect(read.entries.at(-1)).toMatchObject({ kind: 'event', metadata: { record: 'file' } })
  })

  it('a session that was forked says from which, and is told from one that another started', async () => {
    const parentOf = async (more: Fields): Promise<unknown> =>
      (await readExport([user('msg_u', 'go')], { ...INFO, ...more })).session.parent
    const session = uuidFrom('opencode', 'ses_two')
    expect(await parentOf({ forkedFrom: { sessionID: 'ses_two' } })).toEqual({ session, relation: 'fork' })
    expect(await parentOf({ parentID: 'ses_two' })).toEqual({ session, relation: 'subagent' })
    expect(await parentOf({})).toBeUndefined()
  })

  it('a message’s error is said where its record is', async () => {
    const error = { name: 'MessageAbortedError', data: { message: 'The operation was aborted.' } }
    const read = await readExport([assistant('msg_a', [], { error })])
    expect(read.entries[1]).toMatchObject({
      id: 'msg_a',
      durationMs: 3000,
      blocks: [{ type: 'error', message: 'The operation was aborted.', code: 'MessageAbortedError' }],
    })
  })

  it('trap 10: calls whose ids were all redacted to one word keep their own results', async () => {
    const read = await readExport([
      assistant('msg_a', [
        tool('p1', 'REDACTED', done('one')),
        tool('p2', 'REDACTED', { status: 'running', input: {} }),
        tool('p3', 'REDACTED', done('three')),
        tool('p4', 'twice', done('four')),
        tool('p5', 'twice', done('five')),
        tool('REDACTED', 'REDACTED', done('six')),
      ]),
    ])
    const pairing = createPairing<string>()
    const pairs: unknown[] = []
    for (const entry of messagesOf(read)) {
      for (const block of entry.blocks) {
        if (block.type === 'tool-call') pairing.open('primary', block, entry.id)
        if (block.type === 'tool-result') pairs.push([block.output, pairing.answer('primary', block)?.value])
      }
    }
    expect(pairs.slice(0, 4)).toEqual([
      ['one', 'p1'],
      ['three', 'p3'],
      ['four', 'p4'],
      ['five', 'p5'],
    ])
    expect(pairing.unanswered().map(({ value }) => value)).toEqual(['p2'])
    expect(messagesOf(read)[0]?.metadata).toMatchObject({ callID: 'REDACTED' })
  })

  it('a session that was taken back keeps what was said, marked', async () => {
    const messages = [user('msg_1', 'a'), user('msg_2', 'b'), user('msg_3', 'c')]
    const read = await readExport(messages, { ...INFO, revert: { messageID: 'msg_2', snapshot: 'x' } })
    expect(messagesOf(read).map(({ metadata }) => metadata?.['reverted'])).toEqual([undefined, true, true])
    const inside = [part({ id: 'p1', type: 'text', text: 'x' }), part({ id: 'p2', type: 'text', text: 'y' })]
    const partly = await readExport([assistant('msg_2', inside)], {
      ...INFO,
      revert: { messageID: 'msg_2', partID: 'p2' },
    })
    expect(messagesOf(partly).map(({ metadata }) => metadata?.['reverted'])).toEqual([undefined, true])
  })

  it('what is not known yet is kept whole: part types, fields, messages', async () => {
    const odd = part({ id: 'p1', type: 'hologram', beams: 3 })
    const read = await readExport([
      assistant('msg_a', [odd, 7, null], { effort: 'high' }),
      { strange: true },
      5,
    ])
    expect(read.entries.map(({ blocks, metadata }) => [metadata?.['record'], blocks[0]])).toMatchObject([
      ['session', {}],
      ['message', undefined],
      ['hologram', { type: 'unknown', raw: odd }],
      ['unknown', { raw: 7 }],
      ['unknown', { raw: null }],
      ['unknown', { raw: { strange: true } }],
      ['unknown', { raw: 5 }],
    ])
    expect(read.entries[1]?.metadata).toMatchObject({ effort: 'high', cost: 0.012 })
    expect(read.damage).toEqual([])
  })

  it('cut off anywhere, gives every message that is whole', async () => {
    const messages = [
      user('msg_1', 'one {['),
      assistant('msg_2', [tool('p1', 'c', done('“wide”'))]),
      user('msg_3', 'x'),
    ]
    const whole = Buffer.from(toExport(messages))
    const read = async (size: number) => readText(whole.subarray(0, size))
    const marks = ['one {[', '“wide”', '"x"'].map((text) => whole.indexOf(text))
    const ends = marks.map((from) => whole.indexOf('\n    }', from) + 6)
    for (let size = whole.indexOf('"messages"') + 14; size < whole.length; size += 3) {
      const { entries, damage, session } = await read(size)
      const complete = new Set(entries.map(({ origin }) => origin?.record)).size - 1
      expect(complete).toBe(ends.filter((end) => end <= size).length)
      expect(damage.length).toBeGreaterThan(0)
      expect(session.title).toBe('Mend the gate')
    }
    expect((await read(whole.length)).damage).toEqual([])
  })

  it('takes whatever JSON there is without throwing', async () => {
    const word = fc.constantFrom('REDACTED', '__proto__', 'p1', 'text', 'tool', 'assistant', '')
    const any = fc.oneof(word, fc.jsonValue())
    const message = fc.record({
      info: fc.oneof(
        fc.jsonValue(),
        fc.record({ id: any, role: any, time: any, tokens: any, error: any, cost: any }),
      ),
      parts: fc.oneof(
        fc.jsonValue(),
        fc.array(
          fc.record({ id: any, type: word, text: any, callID: any, tool: any, state: any, tokens: any }),
        ),
      ),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 5 }), any, async (messages, revert) => {
        const read = await readExport(messages, { ...INFO, revert })
        expect(new Set(read.entries.map(({ id }) => id)).size).toBe(read.entries.length)
        expect(new Set(read.entries.map(({ origin }) => origin?.record)).size).toBeGreaterThan(0)
        turns(read.entries)
        totals(read)
      }),
      { numRuns: 80 },
    )
  })
})

describe('OpenCode’s counts', () => {
  const usage = async (tokens: unknown, { info = INFO, parts = [finish(tokens)], more = {} }: Fields = {}) =>
    totals(
      await readExport(
        [assistant('msg_a', parts as unknown[], { tokens, ...(more as Fields) })],
        info as Fields,
      ),
    ).usage

  it('trap 3: the message and its step say the same, and are counted once', async () => {
    const read = await readExport([
      assistant('msg_a', [part({ id: 'p', type: 'text', text: 'x' }), finish()]),
      assistant('msg_b', [finish()]),
    ])
    expect(totals(read)).toMatchObject({
      calls: 2,
      usage: {
        input: 40,
        cacheRead: 1800,
        cacheWrite5m: 200,
        output: 300,
        reasoning: 200,
        quality: 'reported',
      },
    })
  })

  it('reasoning inside the output or beside it is told by the total', async () => {
    expect(await usage(TOKENS)).toMatchObject({ output: 150, reasoning: 100, quality: 'reported' })
    expect(await usage({ ...TOKENS, total: 1270 })).toMatchObject({
      output: 250,
      reasoning: 100,
      quality: 'reported',
    })
  })

  it('without a total by the version, else by the day, and marked as our reckoning', async () => {
    const { total: _, ...tokens } = TOKENS
    const by = (version: string | undefined, created: number) =>
      usage(tokens, { info: { ...INFO, version }, more: { time: { created } } })
    expect(await by('1.2.20', MS)).toMatchObject({ output: 150, quality: 'estimated' })
    expect(await by('1.3.15', MS)).toMatchObject({ output: 150 })
    expect(await by('1.3.16', MS)).toMatchObject({ output: 250, quality: 'estimated' })
    expect(await by('1.10.0', MS)).toMatchObject({ output: 250 })
    expect(await by('local', Date.UTC(2026, 3, 3))).toMatchObject({ output: 150 })
    expect(await by('local', Date.UTC(2026, 3, 5))).toMatchObject({ output: 250 })
    expect(await usage({ ...tokens, reasoning: 0 })).toMatchObject({ output: 150, quality: 'reported' })
    expect(await usage({ ...tokens, reasoning: 400 })).toMatchObject({ output: 550, quality: 'estimated' })
  })

  it('the zeros of a message that was aborted are unknown, not 0', async () => {
    const zeros = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }
    expect(await usage(zeros, { parts: [] })).toBeUndefined()
    expect(await usage(zeros)).toBeUndefined()
  })

  it('of several steps in one message each counts, though the message has only the last one’s', async () => {
    const step = { input: 5, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
    const steps = [finish({ ...step, input: 7 }), finish(step)]
    expect(await usage(step, { parts: steps })).toMatchObject({ input: 12, output: 2 })
    const sum = { ...step, input: 12, output: 2 }
    expect(await usage(sum, { parts: steps })).toMatchObject({ input: 12, output: 2 })
  })

  it('a step speaks for a message that has no counts of its own', async () => {
    expect(await usage(undefined, { parts: [finish()] })).toMatchObject({ input: 20, output: 150 })
  })

  it('a cost of 0 states nothing, and nothing else becomes one', async () => {
    const read = await readExport([assistant('a', [], { cost: 0 }), assistant('b', [], { cost: { usd: 3 } })])
    expect(read.session.reportedCost).toBeUndefined()
    const sum = await readExport([assistant('a', [], { cost: 0.1 }), assistant('b', [], { cost: 0.2 })])
    expect(sum.session.reportedCost).toBe('0.3')
  })
})

describe('OpenCode’s tree', () => {
  it('is looked through once for messages that many sessions say are theirs', () => {
    let asked = 0
    const all = Array.from({ length: 1000 }, (_, n) => ({
      get path() {
        asked += 1
        return `storage/message/ses_1/msg_${n}.json`
      },
    }))
    const { messages } = toTree(all as unknown as readonly SourceFile[])
    expect(messages.take('ses_1')).toHaveLength(1000)
    for (let n = 0; n < 1000; n += 1) expect(messages.take('ses_1')).toHaveLength(0)
    expect([...messages.rest()]).toEqual([])
    expect(asked).toBeLessThan(10_000)
  })

  const task = tool('prt_3', 'c2', done('done', { metadata: { sessionId: 'ses_child' } }), 'task')
  const reply = assistant('msg_2', [tool('prt_2', 'c1', done('a.txt')), task, finish()])
  const child = { ...INFO, id: 'ses_child', parentID: 'ses_one', title: 'A part of it' }
  const TREE: Readonly<Record<string, string>> = {
    'storage/session/p1/ses_one.json': JSON.stringify(INFO),
    'storage/session/p1/ses_child.json': JSON.stringify(child),
    'storage/message/ses_one/msg_1.json': JSON.stringify(user('msg_1', 'go').info),
    'storage/message/ses_one/msg_2.json': JSON.stringify(reply.info),
    'storage/part/msg_1/prt_1.json': JSON.stringify(user('msg_1', 'go').parts[0]),
    'storage/part/msg_2/prt_2.json': JSON.stringify(reply.parts[0]),
    'storage/part/msg_2/prt_3.json': JSON.stringify(task),
    'storage/part/msg_2/prt_4.json': JSON.stringify(finish()),
    'storage/todo/ses_one.json': '[{"content":"mend"}]',
    'storage/migration': '2',
  }
  const readTree = (changes: Readonly<Record<string, string>> = {}) =>
    readAll(opencode, memorySource(files({ ...TREE, ...changes })))

  it('says the same as the export of the same session', async () => {
    const read = (await readTree()).find(
      ({ session }) => session.native?.sessionId === 'ses_one',
    ) as Transcript
    const exported = await readExport([user('msg_1', 'go'), reply])
    const strip = (one: Transcript) =>
      one.entries
        .filter(({ metadata }) => metadata?.['record'] !== 'session' && metadata?.['record'] !== 'todo')
        .map((entry) => ({ ...entry, origin: undefined }))
    expect(strip({ ...read, entries: read.entries })).toEqual(strip(exported))
    expect(read.session).toEqual(exported.session)
    expect(read.entries.at(-1)).toMatchObject({ metadata: { record: 'todo' } })
  })

  it('links a subagent’s session to the call that started it, whatever their names’ order', async () => {
    for (const changes of [
      {},
      { 'storage/session/p1/ses_one.json': '', 'storage/session/p1/ses_zzz.json': JSON.stringify(INFO) },
    ]) {
      const read = await readTree(changes)
      const parent = read.find(({ entries }) => entries.some(({ id }) => id === 'prt_3')) as Transcript
      const call = parent.entries.find(({ id }) => id === 'prt_3')
      const spawned = read.find(({ session }) => session.native?.sessionId === 'ses_child')?.session
      expect(spawned?.parent).toEqual({
        session: parent.session.id,
        citation: citation(parent.session.id, call as NonNullable<typeof call>),
        relation: 'subagent',
      })
    }
  })

  it('a damaged file costs itself, a lost one nothing but what it said', async () => {
    const read = await readTree({
      'storage/part/msg_2/prt_2.json': '{"id":"prt_2","type":"to',
      'storage/message/ses_one/msg_1.json': '',
      'storage/part/msg_lost/prt_9.json': JSON.stringify(
        part({ id: 'prt_9', messageID: 'msg_lost', type: 'text', text: 'alone' }),
      ),
      'storage/message/ses_lost/msg_8.json': JSON.stringify(user('msg_8', '').info),
    })
    expect(read.flatMap(({ damage }) => damage.map(({ kind, file }) => `${kind} ${file}`))).toEqual([
      'torn storage/message/ses_one/msg_1.json',
      'torn storage/part/msg_2/prt_2.json',
    ])
    const said = read.flatMap((one) => messagesOf(one).map(({ blocks }) => textOf(blocks)))
    expect(said).toEqual(expect.arrayContaining(['go', 'alone']))
    expect(read.map(({ session }) => session.native?.sessionId)).toEqual(
      expect.arrayContaining(['ses_lost', 'ses_one']),
    )
    expect(new Set(read.map(({ session }) => session.id)).size).toBe(read.length)
  })

  it('a message that is lost leaves its parts in their session, and several of one session in one', async () => {
    const alone = (id: string, message: string, sessionID: string) =>
      JSON.stringify({ id, messageID: message, sessionID, type: 'text', text: `${id} alone` })
    const tree = files({
      ...TREE,
      'storage/part/msg_7/prt_7.json': alone('prt_7', 'msg_7', 'ses_gone'),
      'storage/part/msg_8/prt_8.json': alone('prt_8', 'msg_8', 'ses_gone'),
    })
    tree.delete('storage/message/ses_one/msg_1.json')
    const read = await readAll(opencode, memorySource(tree))
    expect(read.map(({ session }) => session.native?.sessionId)).toEqual(['ses_one', 'ses_child', 'ses_gone'])
    const [one, , gone] = read as [Transcript, Transcript, Transcript]
    expect(one.session.title).toBe(INFO.title)
    expect(messagesOf(one).map(({ blocks }) => textOf(blocks))).toContain('go')
    expect(gone.entries.map(({ blocks, call }) => [textOf(blocks), call?.messageId])).toEqual([
      ['prt_7 alone', 'msg_7'],
      ['prt_8 alone', 'msg_8'],
    ])
    for (const { entries } of read)
      expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, n) => n))
  })

  it('a file that may not be read is damage, and the rest goes on', async () => {
    const whole = memorySource(files(TREE))
    const source: Source = {
      ...whole,
      list: async () =>
        (await whole.list()).map((file) =>
          file.path.endsWith('prt_2.json')
            ? { ...file, bytes: async () => Promise.reject(new HansardError('not-permitted', 'no')) }
            : file,
        ),
    }
    const read = await readAll(opencode, source)
    expect(read.flatMap(({ damage }) => damage.map(({ kind }) => kind))).toEqual(['missing'])
    expect(read.flatMap(({ entries }) => entries).some(({ id }) => id === 'prt_3')).toBe(true)
  })

  it('takes the older layout, and each file on its own', async () => {
    const older = Object.fromEntries(
      Object.entries(TREE).map(([path, text]) => [
        path
          .replace('/session/p1/', '/session/info/')
          .replace('/message/', '/session/message/')
          .replace('/part/', '/session/part/ses_one/'),
        text,
      ]),
    )
    const read = await readAll(opencode, memorySource(files(older)))
    expect(read.map(({ entries }) => entries.length).sort((a, b) => a - b)).toEqual([1, 10])
    for (const [path, text] of Object.entries(TREE).slice(0, 8)) {
      const source = memoryFileSource(path.slice(path.lastIndexOf('/') + 1), text)
      expect((await opencode.detect(source))?.confidence).toBe(0.9)
      const [alone] = await readAll(opencode, source)
      expect(alone?.entries.length).toBeGreaterThan(0)
    }
  })

  it('is told by content, and so is an export', async () => {
    const detect = async (text: string) => (await opencode.detect(memoryFileSource('x', text)))?.confidence
    expect((await opencode.detect(memorySource(files(TREE))))?.confidence).toBe(0.9)
    expect(await detect(toExport([user('m', 'x')]))).toBe(0.95)
    expect(await detect(toExport([]))).toBe(0.95)
    expect(await detect(toExport([user('m', 'x'.repeat(70_000))]))).toBe(0.95)
    expect(await detect(JSON.stringify({ messages: [user('m', 'x')], info: INFO }))).toBe(0.95)
    expect(await detect(JSON.stringify({ messages: [{ role: 'user', content: 'x' }] }))).toBeUndefined()
    expect(await detect(JSON.stringify({ id: 'x', type: 'text', text: 'y' }))).toBeUndefined()
    expect(await detect('{"id":"x","sessionId":"y","role":"user"}')).toBeUndefined()
    expect(await detect('')).toBeUndefined()
    expect((await opencode.detect(memorySource(files({ 'a/b.txt': 'x' }))))?.confidence).toBeUndefined()
  })
})
