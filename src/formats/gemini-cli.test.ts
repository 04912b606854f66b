import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import { textOf } from '../transcript/block.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { createCallFold } from '../transcript/totals.ts'
import { turns, type Transcript } from '../transcript/transcript.ts'
import { createPairing } from '../transcript/tools.ts'
import { geminiCli } from './gemini-cli.ts'

const SESSION = '7d9e0a52-1111-4222-8333-abcdefabcdef'
const T = (second: number): string => `2026-05-04T09:00:${String(second).padStart(2, '0')}.000Z`
const HEADER = {
  sessionId: SESSION,
  projectHash: 'f'.repeat(64),
  startTime: T(0),
  lastUpdated: T(1),
  kind: 'main',
}

type Fields = Record<string, unknown>
const user = (id: string, content: unknown, more: Fields = {}) => ({
  id,
  timestamp: T(2),
  type: 'user',
  content,
  ...more,
})
const model = (id: string, content: unknown, more: Fields = {}) => ({
  id,
  timestamp: T(3),
  type: 'gemini',
  content,
  model: 'gemini-3-pro',
  ...more,
})
const TOKENS = { input: 1000, output: 40, cached: 600, thoughts: 25, tool: 5, total: 1070 }
const call = (id: string, more: Fields = {}) => ({ id, name: 'read_file', args: { path: 'a.ts' }, ...more })
const answer = (output: string) => [
  { functionResponse: { id: 'any', name: 'read_file', response: { output } } },
]

const lines = (...records: readonly unknown[]): string =>
  records.map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`).join('')
const pretty = (messages: readonly unknown[], header: Fields = HEADER): string =>
  JSON.stringify({ ...header, messages }, undefined, 2)

async function readText(text: string | Buffer, name = 'full.jsonl'): Promise<Transcript> {
  const [read] = await readAll(geminiCli, memoryFileSource(name, text))
  return read as Transcript
}
const readLog = (...records: readonly unknown[]): Promise<Transcript> => readText(lines(HEADER, ...records))
const messagesOf = ({ entries }: Transcript) => entries.filter(({ kind }) => kind === 'message')
const said = (read: Transcript): string[] =>
  messagesOf(read).map((entry) => `${entry.role}: ${textOf(entry.blocks)}`)

function totals({ entries }: Transcript) {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}

describe('a Gemini CLI document', () => {
  it('gives the session’s facts, each message, and a result for each answered call', async () => {
    const read = await readText(
      pretty(
        [
          user('u1', [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }], {
            displayContent: 'look',
          }),
          model('g1', 'reading', {
            thoughts: [{ subject: 'Plan', description: 'open it', timestamp: T(3) }],
            tokens: TOKENS,
            toolCalls: [
              call('c1', {
                status: 'success',
                timestamp: T(4),
                result: answer('text'),
                resultDisplay: { fileDiff: '+1' },
              }),
            ],
          }),
          { id: 'i1', timestamp: T(5), type: 'error', content: 'quota' },
        ],
        { ...HEADER, summary: 'Look at a file' },
      ),
      'session.json',
    )
    expect(read.damage).toEqual([])
    expect(read.session).toMatchObject({
      id: uuidFrom('gemini-cli', SESSION),
      native: { agent: 'gemini-cli', sessionId: SESSION },
      title: 'Look at a file',
      model: 'gemini-3-pro',
      startedAt: T(0),
      endedAt: T(5),
      metadata: { 'gemini-cli': { projectHash: HEADER.projectHash, kind: 'main' } },
    })
    const [header, prompt, reply, result, notice] = read.entries
    expect(header).toMatchObject({ kind: 'event', metadata: { record: 'header' } })
    expect(prompt).toMatchObject({ role: 'user', at: T(2), metadata: { displayContent: 'look' } })
    expect(prompt?.blocks[1]).toEqual({ type: 'image', mediaType: 'image/png', data: 'AAAA' })
    expect(reply?.blocks).toEqual([
      { type: 'thinking', text: 'Plan\nopen it' },
      { type: 'text', text: 'reading' },
      { type: 'tool-call', callId: 'c1', name: 'read_file', input: { path: 'a.ts' } },
    ])
    expect(result).toMatchObject({
      role: 'tool',
      at: T(4),
      parent: 'g1',
      blocks: [{ type: 'tool-result', callId: 'c1', name: 'read_file', output: 'text' }],
      metadata: { status: 'success', resultDisplay: { fileDiff: '+1' } },
    })
    expect(notice).toMatchObject({ kind: 'event', blocks: [{ type: 'error', message: 'quota' }] })
  })

  it('trap 3: what was cached is a part of the input, thoughts and tool prompts are not', async () => {
    const read = await readText(pretty([model('g1', 'hi', { tokens: TOKENS })]))
    expect(totals(read).usage).toEqual({
      input: 405,
      cacheRead: 600,
      output: 65,
      reasoning: 25,
      quality: 'reported',
    })
    expect(read.entries[1]?.usage?.raw).toEqual(TOKENS)
  })

  it('no tokens, or null, is no usage: never 0', async () => {
    const read = await readText(pretty([model('g1', 'a', { tokens: null }), model('g2', 'b')]))
    expect(read.entries.map(({ usage }) => usage)).toEqual([undefined, undefined, undefined])
    expect(totals(read).usage).toBeUndefined()
  })

  it('zeros alone are those of nobody who counts', async () => {
    const zeros = { input: 0, output: 0, cached: 0, thoughts: 0, tool: 0, total: 0 }
    const read = await readText(pretty([model('g1', 'a', { tokens: zeros })]))
    expect(read.entries[1]?.usage).toEqual({ quality: 'unavailable', raw: zeros })
  })

  it.each(['id', 'timestamp', 'model', 'tokens', 'thoughts', 'toolCalls', 'parts', 'content'])(
    'keeps a message’s %s of another type',
    async (key) => {
      const message = model('g1', 'text', {
        tokens: TOKENS,
        thoughts: [{ subject: 's', description: 'd' }],
        toolCalls: [call('c1', { result: answer('x') })],
      })
      for (const odd of ['SENTINEL', { a: 'SENTINEL' }, ['SENTINEL']]) {
        const read = await readText(pretty([user('u1', 'hi'), { ...message, [key]: odd }]))
        expect(JSON.stringify(read.entries.slice(2))).toContain('SENTINEL')
      }
    },
  )

  it.each(['id', 'name', 'args', 'result', 'timestamp', 'status'])(
    'keeps a call’s %s of another type, answered or not',
    async (key) => {
      for (const more of [{}, { result: answer('x'), status: 'success' }])
        for (const odd of ['SENTINEL', { a: 'SENTINEL' }, ['SENTINEL']]) {
          const toolCalls = [{ ...call('c1', more), [key]: odd }]
          const read = await readText(pretty([user('u1', 'hi'), model('g1', 'a', { toolCalls })]))
          expect(JSON.stringify(read.entries.slice(2))).toContain('SENTINEL')
        }
    },
  )

  it('keeps messages that are no list', async () => {
    for (const messages of ['SENTINEL', { a: 'SENTINEL' }]) {
      const [read] = await readAll(
        geminiCli,
        memoryFileSource('x.json', JSON.stringify({ ...HEADER, messages })),
      )
      expect(JSON.stringify([read?.session, read?.entries])).toContain('SENTINEL')
    }
  })

  it('keeps thoughts that are texts, and their parts of another type', async () => {
    const thoughts = ['hm', { subject: ['odd'], description: 'd' }, 7]
    const read = await readText(pretty([model('g1', 'a', { thoughts })]))
    expect(read.entries[1]?.blocks.slice(0, 3)).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'thinking', text: 'd' },
      { type: 'unknown', raw: 7 },
    ])
    expect(read.entries[1]?.metadata).toMatchObject({ thoughts: [null, { subject: ['odd'] }, null] })
  })

  it('keeps the time of a call that has no result', async () => {
    const read = await readText(pretty([model('g1', 'a', { toolCalls: [call('c1', { timestamp: T(4) })] })]))
    expect(read.entries[1]?.metadata).toEqual({ toolCalls: [{ timestamp: T(4) }] })
  })

  it('more cached than there was input is marked, and never a negative count', async () => {
    const read = await readText(pretty([model('g1', 'a', { tokens: { input: 5, cached: 9, output: 1 } })]))
    expect(totals(read).usage).toMatchObject({ input: 0, cacheRead: 5, quality: 'estimated' })
  })

  it('trap 10: calls whose ids were all redacted to one word still have their own results', async () => {
    const calls = ['one', 'two', 'three'].map((output, index) =>
      call('REDACTED', index === 1 ? { status: 'executing' } : { status: 'success', result: answer(output) }),
    )
    const read = await readText(pretty([model('REDACTED', '', { toolCalls: calls }), model('REDACTED', 'x')]))
    const pairing = createPairing<number>()
    read.entries[1]?.blocks.forEach((block, at) => {
      if (block.type === 'tool-call') pairing.open('primary', block, at)
    })
    const pairs = messagesOf(read)
      .flatMap(({ blocks }) => blocks)
      .flatMap((block) =>
        block.type === 'tool-result' ? [[block.output, pairing.answer('primary', block)?.value]] : [],
      )
    expect(pairs).toEqual([
      ['one', 0],
      ['three', 2],
    ])
    expect(new Set(read.entries.map(({ id }) => id)).size).toBe(read.entries.length)
  })

  it('a failed and a cancelled call say so; one still at work has no result', async () => {
    const read = await readText(
      pretty([
        model('g1', '', {
          toolCalls: [
            call('a', {
              status: 'error',
              result: [{ functionResponse: { name: 'x', response: { error: 'no such file' } } }],
            }),
            call('b', { status: 'cancelled', resultDisplay: 'stopped by the user' }),
            call('c', { status: 'executing', displayName: 'Read' }),
            'no call',
          ],
        }),
      ]),
    )
    const [, reply, failed, cancelled, nothing] = read.entries
    expect(failed?.blocks).toEqual([
      { type: 'tool-result', callId: 'a', name: 'read_file', error: 'no such file', isError: true },
    ])
    expect(cancelled?.blocks).toEqual([
      { type: 'tool-result', callId: 'b', name: 'read_file', error: 'stopped by the user', isError: true },
    ])
    expect(nothing).toBeUndefined()
    expect(reply?.blocks.at(-1)).toEqual({ type: 'unknown', raw: 'no call' })
    expect(reply?.metadata?.['toolCalls']).toEqual([
      null,
      null,
      { status: 'executing', displayName: 'Read' },
      null,
    ])
  })

  it('a call among the parts that is also in the list of calls is one call', async () => {
    const parts = [
      { text: 'x', thoughtSignature: 's' },
      { functionCall: { id: 'c1', name: 'read_file', args: {} } },
    ]
    const read = await readText(
      pretty([model('g1', parts, { toolCalls: [call('c1', { result: answer('y') })] })]),
    )
    expect(totals(read).toolCalls).toBe(1)
    expect(read.entries[1]?.metadata?.['parts']).toEqual([{ thoughtSignature: 's' }, null])
  })

  it('a result of several parts is all of them', async () => {
    const result = [...answer('text'), { inlineData: { mimeType: 'image/png', data: 'AA' } }]
    const read = await readText(pretty([model('g1', '', { toolCalls: [call('c1', { result })] })]))
    expect(read.entries[2]?.blocks[0]).toMatchObject({
      output: [{ type: 'text', text: 'text' }, { type: 'image' }],
    })
  })

  it('a message of a type that nobody knows yet is kept whole', async () => {
    const odd = { id: 'x', type: 'hologram', content: 'hi' }
    const read = await readText(pretty([odd]))
    expect(read.entries[1]).toMatchObject({ kind: 'event', blocks: [{ type: 'unknown', raw: odd }] })
  })

  it('cut off anywhere, gives every message that is whole', async () => {
    const messages = [user('u1', 'one'), model('g1', 'two — “wide” {['), user('u2', 'three')]
    for (const whole of [
      Buffer.from(pretty(messages)),
      Buffer.from(JSON.stringify({ ...HEADER, messages })),
    ]) {
      let from = 0
      const ends = messages.map(({ id }) => {
        from = whole.indexOf(`"${id}"`, from)
        return whole.indexOf('}', from) + 1
      })
      for (let size = ends[0] as number; size < whole.length; size += 1) {
        const read = await readText(whole.subarray(0, size))
        expect(messagesOf(read)).toHaveLength(ends.filter((end) => end <= size).length)
        expect(read.damage.length).toBeGreaterThan(0)
        expect(read.session.native?.sessionId).toBe(SESSION)
      }
    }
  })

  it('reads a place for each message: its own bytes', async () => {
    const text = pretty([user('u1', 'one'), user('u2', 'zwei')])
    const read = await readText(text)
    const { byteOffset, byteLength, record } = read.entries[2]?.origin ?? {}
    const bytes = Buffer.from(text).subarray(byteOffset, (byteOffset ?? 0) + (byteLength ?? 0))
    expect(JSON.parse(bytes.toString())).toEqual(user('u2', 'zwei'))
    expect(record).toBe(2)
  })
})

describe('a Gemini CLI log', () => {
  const pending = model('g1', '', { toolCalls: [call('c1', { status: 'executing' })], tokens: TOKENS })
  const done = model('g1', '', {
    toolCalls: [call('c1', { status: 'success', result: answer('a.ts') })],
    tokens: { ...TOKENS, output: 41, total: 1071 },
  })

  it('counts a message once, however often it was written again: the last wins', async () => {
    const read = await readLog(
      user('u1', 'go'),
      pending,
      pending,
      done,
      model('g2', 'end', { tokens: TOKENS }),
    )
    expect(said(read)).toEqual(['user: go', 'assistant: ', 'tool: ', 'assistant: end'])
    expect(totals(read)).toMatchObject({ calls: 2, toolCalls: 1, usage: { output: 66 + 65, input: 810 } })
    expect(read.entries.filter(({ metadata }) => metadata?.['record'] === 'snapshot')).toHaveLength(2)
  })

  it('puts a message where it was first written, whatever was written before its last version', async () => {
    const read = await readLog(pending, user('u2', 'meanwhile'), done, user('u3', 'then'))
    expect(said(read)).toEqual(['assistant: ', 'tool: ', 'user: meanwhile', 'user: then'])
    expect(read.entries.map(({ sequence }) => sequence)).toEqual(read.entries.map((_, at) => at))
  })

  it('gives up the place, not the message, when its last version is thousands of lines away', async () => {
    const between = Array.from({ length: 3000 }, (_, at) => user(`u${at}`, `${at}`))
    const read = await readLog(pending, ...between, done)
    expect(messagesOf(read)).toHaveLength(3002)
    expect(messagesOf(read).at(-1)?.role).toBe('tool')
  })

  it('patches change what is said of the session, and are events', async () => {
    const read = await readLog(user('u1', 'go'), { $set: { summary: 'A title', lastUpdated: T(9) } })
    expect(read.session).toMatchObject({ title: 'A title', endedAt: T(9) })
    expect(read.entries.at(-1)?.metadata).toEqual({ record: 'patch' })
  })

  it('a rewind takes back what was said, and neither the record of it nor its bill', async () => {
    const read = await readLog(
      user('u1', 'a'),
      model('g1', 'b', { tokens: TOKENS }),
      { $rewindTo: 'g1' },
      model('g2', 'c', { tokens: TOKENS }),
    )
    expect(messagesOf(read).map(({ id, metadata }) => [id, metadata?.['rewound']])).toEqual([
      ['u1', undefined],
      ['g1', true],
      ['g2', undefined],
    ])
    expect(totals(read).calls).toBe(2)
  })

  it('a rewind to an id that is not there takes everything back', async () => {
    const read = await readLog(user('u1', 'a'), { $rewindTo: 'nobody' }, user('u2', 'b'))
    expect(messagesOf(read).map(({ metadata }) => metadata?.['rewound'])).toEqual([true, undefined])
  })

  it('a checkpoint that restates the conversation adds nothing', async () => {
    const reply = model('g1', 'b', { tokens: TOKENS })
    const checkpoint = { $set: { messages: [user('u1', 'a'), reply] } }
    const read = await readLog(user('u1', 'a'), reply, checkpoint, checkpoint)
    expect(said(read)).toEqual(['user: a', 'assistant: b'])
    expect(totals(read)).toMatchObject({ calls: 1, usage: { output: 65 } })
    expect(read.entries.filter(({ metadata }) => metadata?.['record'] === 'checkpoint')).toHaveLength(2)
  })

  it('a checkpoint after compression erases nothing and counts no turn twice, though it gives them new ids', async () => {
    const reply = model('g1', 'b', { tokens: TOKENS })
    const read = await readLog(user('u1', 'a'), reply, {
      $set: { messages: [user('x0', 'the summary'), user('x1', 'a'), { ...reply, id: 'x2' }] },
    })
    expect(said(read)).toEqual(['user: a', 'assistant: b', 'user: the summary'])
    expect(messagesOf(read).at(-1)?.metadata).toEqual({ checkpoint: true })
    expect(totals(read).calls).toBe(1)
  })

  it('a resumed session keeps its times, tokens and results, though all of it is written again with new ones', async () => {
    const DAY = '2026-05-05T08:00:00.000Z'
    const asked = model('g1', 'reading', { tokens: TOKENS })
    const results = user('r1', answer('text'))
    const before = [
      { $set: { messages: [user('s0', 'the context')] } },
      user('u1', 'look'),
      asked,
      { ...asked, toolCalls: [call('c1', { status: 'success', timestamp: T(4), result: answer('text') })] },
      results,
    ]
    const again = { timestamp: DAY }
    const restated = [
      user('s0', 'the context', again),
      user('u1', 'look', again),
      { id: 'g1', type: 'gemini', content: [{ text: 'reading' }, { functionCall: { id: 'c1' } }], ...again },
      user('g1_response', answer('text'), again),
      { ...results, ...again },
    ]
    const header = { ...HEADER, startTime: DAY, lastUpdated: DAY }
    const lists = [{ $set: { messages: restated.slice(0, 1) } }, { $set: { messages: restated } }]
    const [alone, resumed] = [
      await readLog(...before),
      await readLog(...before, header, ...lists, user('u2', 'go on', again)),
    ]
    expect(messagesOf(resumed).slice(0, -1)).toEqual(messagesOf(alone))
    expect(messagesOf(resumed).map(({ role, at }) => `${role} ${at}`)).toEqual([
      `user ${T(2)}`,
      `user ${T(2)}`,
      `assistant ${T(3)}`,
      `tool ${T(4)}`,
      `user ${DAY}`,
    ])
    expect(totals(resumed)).toMatchObject({ calls: 1, usage: totals(alone).usage })
    expect(resumed.session).toMatchObject({ startedAt: T(0), endedAt: DAY })
    const said = resumed.entries.find(({ metadata }) => metadata?.['record'] === 'results')
    expect(said?.blocks).toEqual([{ type: 'unknown', raw: { id: 'r1', timestamp: T(2), type: 'user' } }])
  })

  it('a log of nothing but checkpoints has each message once, as last written', async () => {
    const grow = (...messages: unknown[]) => ({ $set: { messages } })
    const read = await readLog(
      grow(user('u1', 'a')),
      grow(user('u1', 'a'), pending),
      grow(user('u1', 'a'), done),
    )
    expect(said(read)).toEqual(['user: a', 'assistant: ', 'tool: '])
    expect(totals(read)).toMatchObject({ calls: 1, toolCalls: 1, usage: { output: 66 } })
  })

  it('trap 9: every line is an entry or damage, whatever it is', async () => {
    const odd = ['"text"', '[1]', '42', 'null', '{"a":1}', '{not json', '{"$set":1}', '\0\0\0']
    const text = lines(HEADER, user('u1', 'a\u2028b'), ...odd, model('g1', 'x')).replaceAll('\n', '\r\n')
    const read = await readText(`${text}{"id":"g2","type":"gem`)
    const spoken = new Set([
      ...read.entries.map(({ origin }) => origin?.record),
      ...read.damage.map(({ line }) => line),
    ])
    expect([...spoken].sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual(
      Array.from({ length: 12 }, (_, at) => at + 1),
    )
    expect(read.damage.map(({ kind }) => kind)).toEqual(['not-json', 'nul', 'torn'])
    expect(said(read)).toEqual(['user: a\u2028b', 'assistant: x'])
  })

  it('is a log even if no line behind its header is a record', async () => {
    const read = await readText(lines(HEADER, 'false', 'false', '[]'))
    expect(read.entries.map(({ origin }) => origin?.record)).toEqual([1, 2, 3, 4])
  })

  it('cut off at any byte, loses nothing but the line it died in', async () => {
    const whole = Buffer.from(
      lines(HEADER, user('u1', 'a'), pending, done, { $set: { summary: 's' } }, user('u2', 'b')),
    )
    const ends = [...whole.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at)
    for (let size = (ends[0] as number) + 1; size <= whole.length; size += 1) {
      const read = await readText(whole.subarray(0, size))
      const records = new Set(read.entries.map(({ origin }) => origin?.record))
      records.delete(0)
      const complete = ends.filter((end) => end <= size).length
      expect([complete, complete + 1]).toContain(records.size + read.damage.length || 1)
    }
  })

  it('takes whatever JSON there is without throwing, and covers each line', async () => {
    const word = fc.constantFrom('u1', 'g1', 'REDACTED', '__proto__', '')
    const record = fc.oneof(
      fc.jsonValue(),
      fc.record({ $rewindTo: fc.oneof(word, fc.jsonValue()) }),
      fc.record({ $set: fc.oneof(fc.jsonValue(), fc.record({ messages: fc.array(fc.jsonValue()) })) }),
      fc.record({
        id: fc.oneof(word, fc.jsonValue()),
        type: fc.constantFrom('user', 'gemini', 'error', 'new'),
        content: fc.jsonValue(),
        tokens: fc.jsonValue(),
        thoughts: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())),
        toolCalls: fc.oneof(
          fc.jsonValue(),
          fc.array(fc.record({ id: word, name: word, result: fc.jsonValue() })),
        ),
      }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 2, maxLength: 12 }), async (records) => {
        const read = await readText(lines(HEADER, ...records.map((one) => JSON.stringify(one))))
        const spoken = new Set(read.entries.map(({ origin }) => origin?.record))
        expect(spoken.size).toBe(records.length + 1)
        expect(new Set(read.entries.map(({ id }) => id)).size).toBe(read.entries.length)
        turns(read.entries)
      }),
      { numRuns: 80 },
    )
  })
})

describe('Gemini CLI’s folders', () => {
  it('give each session, its project’s folder, and a subagent’s parent', async () => {
    const child = { ...HEADER, sessionId: '11111111-2222-4333-8444-555555555555', kind: 'subagent' }
    const read = await readAll(
      geminiCli,
      memorySource(
        files({
          'tmp/demo/.project_root': '/home/me/demo\n',
          'tmp/demo/logs.json': '[{"sessionId":"x","type":"user","message":"hi"}]',
          'tmp/demo/chats/session-a.jsonl': lines(HEADER, user('u1', 'a')),
          'tmp/demo/chats/empty.jsonl': '',
          [`tmp/demo/chats/${SESSION}/child.jsonl`]: lines(child, user('u1', 'b')),
        }),
      ),
    )
    expect(read.map(({ session }) => [session.cwd, session.parent?.session])).toEqual(
      expect.arrayContaining([
        ['/home/me/demo', undefined],
        ['/home/me/demo', uuidFrom('gemini-cli', SESSION)],
      ]),
    )
    expect(read).toHaveLength(2)
  })

  it('that hold a session twice have two recordings of it, whose calls are the same', async () => {
    const reply = model('g1', 'b', { tokens: TOKENS })
    const read = await readAll(
      geminiCli,
      memorySource(files({ 'chats/a.json': pretty([reply]), 'chats/b.jsonl': lines(HEADER, reply) })),
    )
    expect(new Set(read.map(({ session }) => session.id)).size).toBe(2)
    expect(new Set(read.flatMap(({ entries }) => entries.map(({ call: one }) => one?.messageId)))).toEqual(
      new Set([undefined, `${SESSION}/g1`]),
    )
  })
})

describe('what is Gemini CLI’s', () => {
  const detect = async (text: string) => (await geminiCli.detect(memoryFileSource('x', text)))?.confidence

  it('is told by content, whatever the order of keys', async () => {
    expect(await detect(pretty([user('u1', 'a')]))).toBe(0.95)
    const late = JSON.stringify({
      messages: [model('g1', 'x'.repeat(70_000))].concat(model('g2', 'b')),
      ...HEADER,
    })
    expect(await detect(JSON.stringify({ messages: [model('g0', 'a')], ...HEADER }))).toBe(0.95)
    expect(await detect(late)).toBe(0.95)
    const first = JSON.stringify({ messages: [model('g0', 'a'), user('u1', 'x'.repeat(70_000))], ...HEADER })
    expect(await detect(first)).toBe(0.95)
    expect(await detect(lines(HEADER, user('u1', 'a')))).toBe(0.95)
    expect(await detect(lines({ $set: { lastUpdated: T(1) } }, model('g1', 'a')))).toBe(0.95)
  })

  it('is not what only looks alike', async () => {
    const claude = {
      sessionId: 's',
      uuid: 'u',
      parentUuid: null,
      type: 'user',
      message: { content: 'x' },
      userType: 'x',
    }
    expect(await detect(lines(claude, claude))).toBeUndefined()
    expect(
      await detect(lines({ type: 'user', content: 'x' }, { type: 'user', content: 'y' })),
    ).toBeUndefined()
    expect(await detect(JSON.stringify({ messages: [{ role: 'user', content: 'x' }] }))).toBeUndefined()
    expect(
      await detect(JSON.stringify({ info: { id: 'ses_1' }, messages: [{ info: {}, parts: [] }] })),
    ).toBeUndefined()
    expect(await detect('')).toBeUndefined()
  })
})

describe('counts that a later snapshot lost', () => {
  it('stand on the one that stated them, once', async () => {
    const first = { ...TOKENS, output: 1 }
    const read = await readLog(
      user('u1', 'hi'),
      model('g1', 'a', { tokens: first }),
      model('g1', 'ab', { tokens: TOKENS }),
      model('g1', 'abc', { tokens: null }),
    )
    expect(said(read)).toEqual(['user: hi', 'assistant: abc'])
    expect(totals(read)).toMatchObject({ calls: 1, usage: { input: 405, output: 65, quality: 'reported' } })
  })

  it('are those of the last where it has any, whatever stood before', async () => {
    const read = await readLog(
      model('g1', 'a', { tokens: TOKENS }),
      user('u1', 'hi'),
      model('g1', 'ab', { tokens: { ...TOKENS, output: 7 } }),
    )
    expect(totals(read)).toMatchObject({ calls: 1, usage: { output: 32 } })
  })
})

describe('a subagent', () => {
  it('cites the call that started it, when both are read together', async () => {
    const child = '9e000000-1111-4222-8333-abcdefabcdef'
    const other = '8e000000-1111-4222-8333-abcdefabcdef'
    const toolCalls = [
      call('c1', { status: 'success', result: answer('done'), agentId: child }),
      call('c2', { agentId: other }),
    ]
    const ofChild = (sessionId: string): string =>
      lines({ ...HEADER, sessionId, kind: 'subagent' }, user('u2', 'task'), model('g2', 'done'))
    const read = await readAll(
      geminiCli,
      memorySource(
        files({
          'chats/session-1.jsonl': lines(HEADER, user('u1', 'go'), model('g1', 'asking', { toolCalls })),
          [`chats/${SESSION}/${child}.jsonl`]: ofChild(child),
          [`chats/${SESSION}/${other}.jsonl`]: ofChild(other),
        }),
      ),
    )
    const parent = read.find(({ session }) => session.native?.sessionId === SESSION) as Transcript
    const caller = parent.entries.find(({ role }) => role === 'assistant')
    const expected = {
      session: parent.session.id,
      citation: `${parent.session.id}#${caller?.sequence}`,
      relation: 'subagent',
    }
    for (const name of [child, other]) {
      const started = read.find(({ session }) => session.native?.sessionId === name)
      expect(started?.session.parent).toEqual(expected)
    }
  })
})
