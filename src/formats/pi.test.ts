import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { files, memoryFileSource, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import { piCanHold } from '../../test/pi-can-hold.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { pi } from './pi.ts'
import { toSessionId } from './pi-fold.ts'

const ID = '01939a6e-0000-7000-8000-000000000001'
const at = (second: number): string => new Date(Date.UTC(2026, 1, 10, 10, 0, second)).toISOString()
const header = { type: 'session', version: 3, id: ID, timestamp: at(0), cwd: '/p' }
const line = (id: string, parentId: string | null, facts: JsonObject, type = 'message'): JsonObject => ({
  type,
  id,
  parentId,
  timestamp: at(1),
  ...facts,
})
const asked = (id: string, parentId: string | null, text = 'hi'): JsonObject =>
  line(id, parentId, { message: { role: 'user', content: [{ type: 'text', text }], timestamp: 1 } })
const usage = (input: number, output: number, facts: JsonObject = {}): JsonObject => ({
  input,
  output,
  cacheRead: 5,
  cacheWrite: 7,
  ...facts,
})
let clock = 0
const answer = (facts: JsonObject = {}): JsonObject => ({
  role: 'assistant',
  content: [{ type: 'text', text: 'well' }],
  api: 'anthropic-messages',
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  usage: usage(10, 2),
  stopReason: 'stop',
  timestamp: (clock += 1),
  ...facts,
})
const answered = (id: string, parentId: string | null, facts: JsonObject = {}): JsonObject =>
  line(id, parentId, { message: answer(facts) })

const text = (...lines: readonly Json[]): string => lines.map((one) => `${JSON.stringify(one)}\n`).join('')

async function read(...lines: readonly Json[]): Promise<Transcript> {
  const [only, ...others] = await readAll(pi, memoryFileSource('x.jsonl', text(...lines)))
  expect(others).toEqual([])
  return only as Transcript
}

function totals(entries: readonly Entry[]): unknown {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  const { calls, usage: sum } = fold.totals()
  return { calls, ...sum }
}

describe('lines', () => {
  it('are entries of a tree, messages or events that hold them', async () => {
    const call = { type: 'toolCall', id: 't1', name: 'read', arguments: { path: 'a' } }
    const thought = { type: 'thinking', thinking: 'hm', thinkingSignature: 'sig' }
    const result = {
      role: 'toolResult',
      toolCallId: 't1',
      toolName: 'read',
      isError: true,
      details: { x: 1 },
    }
    const { entries } = await read(
      header,
      line('m', null, { provider: 'x', modelId: 'y' }, 'model_change'),
      asked('a', 'm'),
      answered('b', 'a', { content: [thought, call], stopReason: 'toolUse', responseId: 'r1' }),
      line('c', 'b', { message: { ...result, content: [{ type: 'text', text: 'no' }], timestamp: 3 } }),
      line('d', 'c', { message: { role: 'bashExecution', command: 'ls', output: '' } }),
      line('e', 'd', { summary: 's', firstKeptEntryId: 'a', tokensBefore: 9 }, 'compaction'),
    )
    expect(entries.map(({ id, parent, kind, role }) => [id, parent, role ?? kind])).toEqual([
      ['primary/0', undefined, 'event'],
      ['m', null, 'event'],
      ['a', 'm', 'user'],
      ['b', 'a', 'assistant'],
      ['c', 'b', 'tool'],
      ['d', 'c', 'event'],
      ['e', 'd', 'event'],
    ])
    expect(entries.map(({ metadata }) => metadata?.['record'])).toEqual([
      'session',
      'model_change',
      undefined,
      undefined,
      undefined,
      'bashExecution',
      'compaction',
    ])
    expect(entries[3]).toMatchObject({
      at: at(1),
      blocks: [
        { type: 'thinking', text: 'hm', signature: 'sig' },
        { type: 'tool-call', callId: 't1', name: 'read', input: { path: 'a' } },
      ],
      model: 'claude-sonnet-4-5',
      stopReason: 'toolUse',
      call: { provider: 'anthropic', messageId: 'r1' },
    })
    expect(entries[4]?.blocks).toEqual([
      { type: 'tool-result', callId: 't1', name: 'read', output: 'no', isError: true },
    ])
    expect(entries[4]?.metadata).toEqual({ message: { details: { x: 1 }, timestamp: 3 } })
    expect(entries.map(({ origin }) => origin?.record)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('of version 1 have no ids, and follow each other', async () => {
    const { session, entries } = await read(
      {
        type: 'session',
        id: ID,
        timestamp: at(0),
        cwd: '/p',
        provider: 'x',
        modelId: 'y',
        thinkingLevel: 'off',
      },
      { type: 'message', timestamp: at(1), message: answer({ model: undefined as unknown as Json }) },
    )
    expect(entries.map(({ id }) => id)).toEqual(['primary/0', 'primary/1'])
    expect(session.model).toBe('y')
  })

  it('that were copied with their ids keep their place', async () => {
    const { entries } = await read(header, asked('a', null), asked('a', null), asked('primary/2', null))
    expect(entries.map(({ id }) => id)).toEqual(['primary/0', 'a', 'primary/2', 'primary/3'])
    expect(entries[2]?.metadata).toMatchObject({ id: 'a' })
  })
})

describe('trap 3: usage', () => {
  it('is disjoint, with pi’s own cost beside it', async () => {
    const cost = { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.3 }
    const { session, entries } = await read(
      header,
      answered('a', null, { usage: usage(10, 2, { cost }) }),
      answered('b', 'a', { usage: usage(1, 1, { cost: { total: 0.000001 } }) }),
    )
    expect(entries[1]?.usage).toEqual({
      input: 10,
      cacheRead: 5,
      cacheWrite5m: 7,
      output: 2,
      quality: 'reported',
      raw: usage(10, 2, { cost }),
    })
    expect(session.reportedCost).toBe('0.300001')
  })

  it('keeps what was cached for an hour apart, and the reasoning inside the output', async () => {
    const { entries } = await read(
      header,
      answered('a', null, { usage: usage(10, 9, { cacheWrite1h: 4, reasoning: 3 }) }),
    )
    expect(entries[1]?.usage).toMatchObject({ cacheWrite5m: 3, cacheWrite1h: 4, output: 9, reasoning: 3 })
  })

  it('of summaries, tools and kept caches is a call each, by the model that is named or in use', async () => {
    const { entries } = await read(
      header,
      answered('a', null),
      line('b', 'a', { summary: 's', firstKeptEntryId: 'a', usage: usage(20, 3) }, 'compaction'),
      line('c', 'b', { summary: 's', fromId: 'a', usage: usage(30, 4) }, 'branch_summary'),
      line('d', 'c', { kind: 'cache_warm', provider: 'x', model: 'm', usage: usage(40, 5) }, 'usage'),
      line('e', 'd', {
        message: { role: 'toolResult', toolCallId: 't', toolName: 'ask', content: [], usage: usage(50, 6) },
      }),
      line('f', 'e', { customType: 'x', usage: usage(60, 7) }, 'custom'),
    )
    expect(totals(entries)).toMatchObject({ calls: 5, input: 150, output: 20 })
    expect(entries.map(({ model }) => model).slice(2)).toEqual([
      'claude-sonnet-4-5',
      'claude-sonnet-4-5',
      'm',
      'claude-sonnet-4-5',
      undefined,
    ])
  })

  it('of a call that was cut short is a lower bound, and zeros are a placeholder', async () => {
    const zeros = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } }
    const { session, entries } = await read(
      header,
      answered('a', null, { stopReason: 'aborted' }),
      answered('b', 'a', { stopReason: 'aborted', usage: zeros, errorMessage: 'Request was aborted' }),
    )
    expect(entries[1]?.usage?.quality).toBe('partial')
    expect(entries[2]?.usage).toEqual({ quality: 'unavailable', raw: zeros })
    expect(entries[2]?.blocks.at(-1)).toEqual({ type: 'error', message: 'Request was aborted' })
    expect(session.reportedCost).toBeUndefined()
    expect(session).toMatchObject({ status: 'failed', error: 'Request was aborted' })
  })

  it('of a session that went on after an error says that it is completed', async () => {
    const { session } = await read(
      header,
      answered('a', null, { stopReason: 'error', errorMessage: 'overloaded' }),
      answered('b', 'a'),
    )
    expect(session.status).toBe('completed')
    expect(session.error).toBeUndefined()
  })

  it('of branches that were left is counted', async () => {
    const { entries } = await read(header, asked('a', null), answered('b', 'a'), answered('c', 'a'))
    expect(totals(entries)).toMatchObject({ calls: 2, input: 20, output: 4 })
  })

  it('of a server that gives every answer the same id is counted each time', async () => {
    const { entries } = await read(
      header,
      answered('a', null, { responseId: 'chatcmpl' }),
      answered('b', 'a', { responseId: 'chatcmpl' }),
      answered('c', 'b', { responseId: 'chatcmpl' }),
    )
    expect(totals(entries)).toMatchObject({ calls: 3, input: 30 })
  })
})

describe('trap 5: lines that were copied into another session', () => {
  it.each([
    ['with the provider’s id', { responseId: 'r1' }],
    ['without one', {}],
  ])('%s are one call', async (_, facts) => {
    const copied = [asked('a', null), answered('b', 'a', facts)]
    const path = `/home/x/2026-02-10T10-00-00-000Z_${ID}.jsonl`
    const fork = { ...header, id: 'other', parentSession: path }
    const source = memorySource(
      files({ 'a.jsonl': text(header, ...copied), 'b.jsonl': text(fork, ...copied) }),
    )
    const all = await readAll(pi, source)
    expect(totals(all.flatMap(({ entries }) => entries))).toMatchObject({ calls: 1, input: 10 })
    expect(all[1]?.session.parent).toEqual({ session: toSessionId(ID), relation: 'fork' })
    expect(all[0]?.session.id).toBe(toSessionId(ID))
  })
})

describe('a session', () => {
  it('is what its lines say', async () => {
    const { session } = await read(
      header,
      answered('a', null),
      line('n', 'a', { name: 'first' }, 'session_info'),
      { ...line('o', 'n', { name: 'last' }, 'session_info'), timestamp: at(9) },
    )
    expect(session).toEqual({
      id: toSessionId(ID),
      native: { agent: 'pi', sessionId: ID },
      agent: 'pi',
      title: 'last',
      model: 'claude-sonnet-4-5',
      cwd: '/p',
      startedAt: at(0),
      endedAt: at(9),
      status: 'completed',
    })
  })

  it.each<[string, Json[], number | undefined]>([
    ['pi’s', [header, asked('a', null)], 0.95],
    ['a header alone', [header], 0.95],
    ['lines without a header', [asked('a', null), answered('b', 'a')], 0.6],
    ['a cousin’s', [{ type: 'session', version: 1, id: 'a', createdAt: 1, cwd: '/' }], undefined],
    ['another cousin’s', [{ type: 'session_start', id: 'a' }, asked('a', null)], undefined],
    ['lines that anybody may have', [asked('a', null)], undefined],
    ['Codex’s', [{ timestamp: at(0), type: 'session_meta', payload: { id: 'a' } }], undefined],
    ['bare messages', [{ type: 'message', role: 'user', content: [] }], undefined],
    ['nothing', [], undefined],
  ])('is detected: %s', async (_, lines, confidence) => {
    expect((await pi.detect(memoryFileSource('x', text(...lines))))?.confidence).toBe(confidence)
  })
})

describe('what was read', () => {
  it('goes back as it was', async () => {
    const lines = [
      header,
      { type: 'message', timestamp: '2026-02-10T10:00:01Z', message: { role: 'user', content: 'plain' } },
      asked('a', null),
      asked('a', 'a'),
      answered('b', 'a', {
        content: [{ type: 'text', text: 'x', textSignature: 's' }, { type: 'novel' }, 3],
      }),
      answered('c', 'b', {
        content: [{ type: 'thinking', thinking: '', thinkingSignature: 'x', redacted: true }],
      }),
      answered('d', 'c', { responseId: 'pi:odd', usage: null, errorMessage: 'e', model: '' }),
      line('e', 'd', { message: { role: 'toolResult', content: [], isError: 'odd' } }),
      line('f', 'e', {
        message: {
          role: 'toolResult',
          content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }],
          toolCallId: 't',
          isError: false,
        },
      }),
      line('g', 'f', { message: { role: 'user', content: { 0: 'odd' } } }),
      { ...asked('h', 'g'), plain: 1, absent: 2 },
      line('i', 'h', { customType: 'x', data: { y: 1 } }, 'custom'),
      'text',
      [1],
      null,
    ]
    const back = await read(...lines)
    expect(back.entries).toHaveLength(lines.length)
    const { files: written, lost } = writeTranscript(pi, back)
    const [content] = [...written.values()]
    const records = content?.toString().trim().split('\n') ?? []
    expect(records.map((one) => JSON.parse(one) as unknown)).toEqual(lines)
    expect(lost).toEqual([])
  })
})

describe('a session of another format', () => {
  const session: Session = { id: ID, status: 'completed' }
  const entry = (facts: Partial<Entry>, sequence = 0): Entry => ({
    id: `primary/${sequence}`,
    source: 'primary',
    sequence,
    kind: 'message',
    role: 'assistant',
    blocks: [],
    ...facts,
  })

  it('reads back as what pi can hold of it', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (given) => {
        const read1 = await readAll(pi, memorySource(writeTranscript(pi, given).files))
        const isRoot = (one: Transcript): boolean => one.session.parent === undefined
        const ordered = [...read1.filter(isRoot), ...read1.filter((one) => !isRoot(one))]
        const held = piCanHold(given)
        expect(ordered).toHaveLength(held.length)
        for (const [index, { session: facts, messages, ids }] of held.entries()) {
          expect(ordered[index]?.session).toMatchObject(facts)
          const own = ordered[index]?.entries.filter(({ kind }) => kind === 'message') ?? []
          expect(own.map(toHeld)).toEqual(messages)
          expect(own.map(({ id }) => id)).toEqual(expect.arrayContaining([...ids]))
        }
      }),
      { numRuns: 200 },
    )
  })

  it('says what is lost and what is filled in', () => {
    const { lost, filled } = writeTranscript(pi, {
      session: { ...session, endedAt: at(5) },
      entries: [
        entry({
          usage: { output: 3, reasoning: 1, quality: 'estimated' },
          blocks: [{ type: 'unknown', raw: 1 }],
        }),
        entry({ role: 'system', blocks: [{ type: 'text', text: 'rules' }] }, 1),
        entry({ kind: 'event', blocks: [] }, 2),
      ],
    })
    expect(lost.map(({ what }) => what)).toEqual([
      'usage quality, an unknown block',
      'the whole entry: pi has no message for it',
      'the whole entry: pi has no message for it',
      'session id',
      'end time',
    ])
    expect(new Set(filled.map(({ what }) => what))).toEqual(
      new Set(['cwd', 'timestamp', 'api', 'provider', 'model', 'usage', 'usage.cost', 'stopReason']),
    )
  })

  it('says what becomes of errors, and keeps what an answer used beside a result', async () => {
    const error = { type: 'error', message: 'no', code: 'x' } as const
    const facts = { model: 'm', usage: { input: 1, cacheRead: 0, output: 2, quality: 'reported' as const } }
    const call = { provider: 'p', messageId: 'm' }
    const text = { type: 'text', text: 'a' } as const
    const result = { type: 'tool-result', callId: 'c', name: 'Bash', output: 'o' } as const
    const { files, lost } = writeTranscript(pi, {
      session,
      entries: [
        entry({ blocks: [text, error] }),
        entry({ blocks: [error, text, error] }, 1),
        entry({ role: 'user', blocks: [error] }, 2),
        entry({ ...facts, call, stopReason: 's', blocks: [result, text, result] }, 3),
      ],
    })
    expect(lost.map(({ what }) => what)).toEqual([
      'error code',
      'error code, block boundaries, its place in the order',
      'error kept as text, error code',
      'role, block boundaries',
      'session id',
    ])
    const [only] = await readAll(pi, memorySource(files))
    expect(only?.entries.find(({ stopReason }) => stopReason === 's')).toMatchObject({ ...facts, call })
  })

  it('counts a call once that several of its records report', async () => {
    const report = (output: number, sequence: number): Entry =>
      entry(
        {
          at: at(sequence),
          blocks: [{ type: 'text', text: 'a' }],
          usage: { input: 100, output, quality: 'reported' },
          call: { messageId: 'm1' },
        },
        sequence,
      )
    const { files: written } = writeTranscript(pi, { session, entries: [report(1, 0), report(9, 1)] })
    const [only] = await readAll(pi, memorySource(written))
    expect(totals(only?.entries ?? [])).toMatchObject({ calls: 1, input: 100, output: 9 })
  })

  it('lies where pi looks for it, whatever the folder is called', () => {
    const { files: written } = writeTranscript(pi, {
      session: { ...session, cwd: '/../a b/\0..', startedAt: at(1) },
      entries: [],
    })
    expect([...written.keys()]).toEqual([
      `agent/sessions/--..-a-b--..--/2026-02-10T10-00-01-000Z_${ID}.jsonl`,
    ])
    expect(() =>
      writeTranscript(
        pi,
        { session: { ...session, cwd: '/../a b/\0..', startedAt: at(1) }, entries: [] },
        { files: written },
      ),
    ).toThrow(/already there/)
  })
})

describe('trap 9: files as they are found', () => {
  it('cost the line that is bad, in its place', async () => {
    const content = `\uFEFF${text(header)}{"type\r\n\n${text(asked('a', null, 'x\u2028')).replace('\n', '\r\n')}{"type":"mess`
    const [only] = await readAll(pi, memoryFileSource('x.jsonl', content))
    expect(only?.entries.map(({ id }) => id)).toEqual(['primary/0', 'a'])
    expect(only?.damage.map(({ kind }) => kind)).toEqual(['not-json', 'torn'])
    expect(await readAll(pi, memoryFileSource('x.jsonl', ''))).toEqual([])
  })

  it('cut at any byte lose nothing but the line they end in', async () => {
    const whole = Buffer.from(text(header, asked('a', null, 'é'), answered('b', 'a')))
    for (let end = 1; end < whole.length; end += 1) {
      const cut = whole.subarray(0, end)
      const [only] = await readAll(pi, memoryFileSource('x.jsonl', cut, { chunkBytes: 64 }))
      const ended = cut.toString().split('\n').length - 1
      const count = only?.entries.length ?? 0
      // A line is whole one byte before its newline.
      expect(count === ended || (count === ended + 1 && whole[end] === 10)).toBe(true)
      expect(count + (only?.damage.length ?? 0)).toBeGreaterThan(0)
    }
  })

  it('from an enemy change nothing but what they say', async () => {
    const deep = `${'['.repeat(3000)}${']'.repeat(3000)}`
    const hostile = [
      '{"type":"session","id":"../../x","timestamp":"x","cwd":"/","parentSession":7}',
      '{"type":"message","id":"__proto__","parentId":"__proto__","message":{"role":"user","content":[],"__proto__":{"p":1}},"__proto__":{"q":1}}',
      `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","name":"f","arguments":${deep}}]}}`,
      '{"type":"message","message":{"role":"assistant","content":[],"usage":{"input":-5,"output":1e+99,"cost":{"total":1e+300}}}}',
      '{"type":"message","message":{"role":"toolResult","content":"x"}}',
      '{"type":"message","message":[]}',
    ]
    const [only] = await readAll(pi, memoryFileSource('x.jsonl', hostile.join('\n')))
    expect(only?.entries).toHaveLength(hostile.length)
    expect(({} as Record<string, unknown>)['q']).toBeUndefined()
    expect(totals(only?.entries ?? [])).toEqual({ calls: 0 })
    const { files: written } = writeTranscript(pi, only as Transcript)
    expect([...written.keys()][0]).not.toContain('..')
    const [content] = [...written.values()]
    const plain = (all: string): unknown[] =>
      all
        .trim()
        .split('\n')
        .map((one) => JSON.parse(one) as unknown)
    expect(plain(content?.toString() ?? '')).toEqual(plain(hostile.join('\n')))
  })
})

function toHeld({ role, at: when, blocks, model, usage: counts, stopReason }: Entry): Partial<Entry> {
  const { raw: _, ...held } = counts ?? { quality: 'reported' }
  return {
    ...(role && { role }),
    ...(when && { at: when }),
    blocks,
    ...(model && { model }),
    ...(counts && { usage: held }),
    ...(stopReason && { stopReason }),
  }
}
