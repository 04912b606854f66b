import { describe, expect, it } from 'vitest'
import { files, memoryFileSource, memorySource } from '../../test/memory-files.ts'
import type { Format } from '../formats/format.ts'
import { generic } from '../formats/generic.ts'
import { raw } from '../formats/raw.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { detect, identify, isAmbiguous } from './detect.ts'
import { withOwn } from './listed-file.ts'
import { allFormats } from './formats.ts'

const formats = allFormats
const lines = (...records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')
const formatOf = async (content: string | Buffer): Promise<string | undefined> =>
  (await detect(memoryFileSource('x', content), { formats }))?.format.id

const wrapper = {
  parentUuid: null,
  isSidechain: false,
  userType: 'external',
  cwd: '/x',
  sessionId: '11111111-1111-4111-8111-111111111111',
  version: '2.1.0',
}
/** As Claude Code orders them: the id stands behind the message. */
const claude = (content: unknown): object => ({
  ...wrapper,
  type: 'user',
  message: { role: 'user', content },
  uuid: 'u1',
  timestamp: '2026-02-10T10:00:00.000Z',
})
const image = (bytes: number): object =>
  claude([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(bytes) } }])
const meta = (bytes: number): object => ({
  timestamp: '2026-02-10T10:00:00.000Z',
  type: 'session_meta',
  payload: { id: 't', instructions: 'x'.repeat(bytes), cwd: '/x' },
})

describe('a first line longer than the head', () => {
  it.each([70_000, 3_000_000, 20_000_000])('of %d bytes of image is Claude Code’s', async (bytes) => {
    expect(await formatOf(lines(image(bytes), claude('hi')))).toBe('claude-code')
    expect(await formatOf(lines(image(bytes)))).toBe('claude-code')
  })

  it.each([70_000, 3_000_000, 20_000_000])('of %d bytes of instructions is Codex’s', async (bytes) => {
    expect(await formatOf(lines(meta(bytes)))).toBe('codex')
  })

  it('does not hide whose the lines behind it are', async () => {
    const first = { type: 'summary', summary: 'x'.repeat(100_000), leafUuid: 'u' }
    const found = await detect(memoryFileSource('x', lines(first, claude('a'), claude('b'))), { formats })
    expect(found).toMatchObject({ format: { id: 'claude-code' }, confidence: 0.95 })
  })

  it('that is nobody’s is described by its keys', async () => {
    const source = memoryFileSource('x', JSON.stringify({ what: 1, long: 'x'.repeat(100_000) }))
    await expect(identify(source, { formats })).rejects.toMatchObject({
      code: 'unknown-format',
      message: expect.stringContaining('the keys what, long'),
      hint: expect.stringContaining('tried journal, devflow'),
    })
  })
})

describe('what stands before the first record', () => {
  const long = lines(image(1_000_000), claude('hi'))
  it.each([
    ['blank lines', '\n\r\n \n'],
    ['a torn line longer than the head', `${'x'.repeat(100_000)}"}}\n`],
    ['a torn line that begins like a record', `{"type":"user","x":"${'x'.repeat(100_000)}\n`],
    ['a short text', '"s"\n'],
    ['a list of a megabyte', `${JSON.stringify(['x'.repeat(1_000_000)])}\n`],
  ])('does not hide it: %s', async (_, before) => {
    expect(await formatOf(before + long)).toBe('claude-code')
    expect(await formatOf(before + lines(meta(100_000), meta(10)))).toBe('codex')
    expect(await formatOf(before + lines(...Array.from({ length: 5000 }, () => ({ a: 1 }))))).toBeUndefined()
  })
})

describe('a document whose telling keys come late', () => {
  const text = 'x'.repeat(300_000)
  const at = '2026-02-10T10:00:00.000Z'
  const geminiMessages = [
    { content: text, id: 'a', timestamp: at, type: 'user' },
    { content: 'b', id: 'b', timestamp: at, type: 'gemini' },
  ]
  it.each<[string, string, unknown]>([
    [
      'Cline’s history',
      'cline',
      [
        { role: 'user', content: [{ type: 'text', text: `<task>\n${text}` }] },
        { role: 'assistant', content: [{ type: 'text', text: 'ok' }] },
        { role: 'user', content: [{ type: 'text', text: '<environment_details>' }] },
      ],
    ],
    [
      'Cline’s CLI',
      'cline',
      {
        system_prompt: text,
        version: 1,
        updated_at: at,
        agent: 'lead',
        messages: [{ role: 'user', content: 'a' }],
      },
    ],
    [
      'OpenCode’s export',
      'opencode',
      {
        info: {
          summary: text,
          id: 'ses_1',
          projectID: 'p',
          directory: '/p',
          version: '1',
          time: { created: 1 },
        },
        messages: [{ info: { id: 'msg_1', role: 'user', sessionID: 'ses_1' }, parts: [] }],
      },
    ],
    [
      'Gemini CLI’s',
      'gemini-cli',
      { messages: geminiMessages, sessionId: 's', projectHash: 'h', startTime: at, lastUpdated: at },
    ],
    ['a guess', 'openai-chat', { what: text, messages: [{ role: 'user', content: 'a' }] }],
    // Between two long texts nobody looks.
    ['what is in the middle', 'undefined', { what: text, messages: [{ role: 'user', content: text }] }],
    ['nobody’s', 'undefined', { what: text, messages: [{ who: 'user', said: text }] }],
  ])('is told all the same: %s', async (_, format, document) => {
    expect(String(await formatOf(JSON.stringify(document)))).toBe(format)
    expect(String(await formatOf(`\n${JSON.stringify(document, undefined, 2)}\n`))).toBe(format)
  })
})

describe('a folder', () => {
  const many = (path: (index: number) => string, content: string): Record<string, string> =>
    Object.fromEntries(Array.from({ length: 25 }, (_, index) => [path(index), content]))
  const folderFormat = async (content: Record<string, string>): Promise<string | undefined> =>
    (await detect(memorySource(files(content)), { formats }))?.format.id

  it.each([
    ['empty logs', many((index) => `a/${index}.jsonl`, '')],
    ['prompts', many((index) => `a/${index}.md`, 'hello')],
    ['settings', many((index) => `a/${index}.json`, '{}')],
  ])('is its logs’, though %s come first', async (_, before) => {
    const session = { type: 'session', version: 3, id: 's', timestamp: '2026-02-10T10:00:00.000Z', cwd: '/' }
    for (const [format, record] of [
      ['claude-code', claude('hi')],
      ['codex', meta(1)],
      ['pi', session],
      ['cursor', { role: 'user', message: { content: [{ type: 'text', text: 'x' }] } }],
    ] as const)
      expect(await folderFormat({ ...before, 'z/log.jsonl': lines(record) }), format).toBe(format)
  })

  it('of documents is theirs, though empty ones come first', async () => {
    const shown = JSON.stringify([{ ts: 1, type: 'say', say: 'text', text: 'x' }])
    const before = many((index) => `tasks/${index}/ui_messages.json`, '')
    expect(await folderFormat({ ...before, 'tasks/99/ui_messages.json': shown })).toBe('cline')
  })
})

describe('what looks like a format and is another’s', () => {
  it.each([
    [
      'Qwen',
      'qwen',
      { ...wrapper, userType: undefined, uuid: 'u', type: 'user', message: { role: 'user', parts: [] } },
    ],
    [
      'Qwen without a mark',
      undefined,
      { parentUuid: null, sessionId: 's', uuid: 'u', version: '1', message: { parts: [] } },
    ],
    [
      'iFlow',
      'iflow',
      {
        ...wrapper,
        type: 'user',
        sessionId: 'session-1',
        uuid: 'u',
        message: { role: 'user', content: 'x' },
      },
    ],
    ['gptme', 'generic', { role: 'user', content: 'x', timestamp: '2026-06-13T10:00:00.000000' }],
    ['dsh', 'dsh', { type: 'session', id: 's', createdAt: 1, timestamp: 't', cwd: '/' }],
    ['a chat', 'openai-chat', { role: 'user', content: 'x' }],
  ])('%s is told as %s', async (_, format, record) => {
    expect(await formatOf(lines(record, record))).toBe(format)
  })
})

describe('detecting', () => {
  const step = {
    timestamp: '2025-12-09T14:30:22.123456Z',
    role: 'tool',
    tool_name: 'Bash',
    tool_input: {},
    content: 'x',
  }

  it('names the runner-up, and says when it came close', async () => {
    const both = files({
      'a.jsonl': lines(claude('hi')),
      'b.jsonl': lines({ type: 'session', id: 's', timestamp: 't', cwd: '/' }),
    })
    const found = await detect(memorySource(both), { formats })
    expect(found).toMatchObject({ format: { id: 'claude-code' }, runnerUp: { format: { id: 'pi' } } })
    expect(found && isAmbiguous(found)).toBe(true)
    const alone = await detect(memoryFileSource('x', lines(meta(1))), { formats })
    expect(alone).toMatchObject({ format: { id: 'codex' } })
    expect(alone).not.toHaveProperty('runnerUp')
    expect(alone && isAmbiguous(alone)).toBe(false)
  })

  it('asks who is never sure only where nobody is surer by far', async () => {
    const asked: string[] = []
    const saying = (id: string, confidence: number, surest?: number): Format => ({
      ...raw,
      id,
      ...(surest !== undefined && { surest }),
      async detect() {
        asked.push(id)
        return { confidence, reason: 'so' }
      },
    })
    const ask = async (confidence: number): Promise<string | undefined> => {
      const formats = [saying('known', confidence), saying('guess', 0.45, 0.45)]
      return (await detect(memoryFileSource('x', ''), { formats }))?.format.id
    }
    expect([await ask(0.9), await ask(0.65)]).toEqual(['known', 'known'])
    expect(asked).toEqual(['known', 'known'])
    expect([await ask(0.6), await ask(0.3)]).toEqual(['known', 'guess'])
    expect(asked.filter((id) => id === 'guess')).toHaveLength(2)
  })

  it('never hears more from a format than the surest that it says it is', async () => {
    const talk = ['user', 'assistant'].map((role) => ({ role, words: 1, content: 'x' }))
    const answer = await generic.detect(memoryFileSource('x', lines(...talk, ...talk)))
    expect(answer?.confidence).toBe(generic.surest)
  })

  it('asks nobody when the user says what it is', async () => {
    const source = memoryFileSource('x', lines(step))
    for (const ask of [detect, identify]) {
      expect(await ask(source, { formats, format: 'codex' })).toMatchObject({ format: { id: 'codex' } })
    }
  })

  it('goes by no name', async () => {
    for (const name of ['rollout-x.jsonl', 'full.jsonl', 'a.txt', 'transcript.json']) {
      const found = await detect(memoryFileSource(name, lines(claude('hi'))), { formats })
      expect(found?.format.id, name).toBe('claude-code')
    }
  })

  it('reads a file once, and no more than its head, however many formats there are', async () => {
    const asked: number[] = []
    const source = watched(memoryFileSource('x', lines(...Array.from({ length: 1000 }, () => step))), asked)
    expect((await detect(source, { formats }))?.format.id).toBe('swarm')
    expect(asked).toEqual([48 * 1024])
  })

  it('reads the end of one whose first line is long as well, and in all no more than 64 KB', async () => {
    for (const text of [lines(image(200_000), claude('hi')), JSON.stringify([claude('x'.repeat(300_000))])]) {
      const asked: number[] = []
      await detect(watched(memoryFileSource('x', text), asked), { formats })
      expect(asked).toEqual([48 * 1024, 16 * 1024])
    }
  })

  it('looks at four members of a zip, and together at 24 KB of them', async () => {
    const many = Array.from(
      { length: 200 },
      (_, n) => [`p/${n}.jsonl`, lines(image(20_000), claude('hi'))] as const,
    )
    const asked: number[] = []
    const folder = watched(memorySource(files(Object.fromEntries(many))), asked)
    const zip: Source = { ...folder, isPacked: true }
    expect((await detect(zip, { formats }))?.format.id).toBe('claude-code')
    expect(asked).toHaveLength(4)
    expect(asked.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(24 * 1024)
  })
})

function watched(source: Source, asked: number[]): Source {
  const watch = (file: SourceFile): SourceFile =>
    withOwn(file, {
      head(bytes) {
        asked.push(bytes)
        return file.head(bytes)
      },
      async tail(bytes) {
        asked.push(bytes)
        return (await file.tail?.(bytes)) ?? Buffer.alloc(0)
      },
      chunks() {
        asked.push(Infinity)
        return file.chunks()
      },
    })
  return { ...source, list: async () => (await source.list()).map(watch) }
}
