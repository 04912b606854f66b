/** Leslie's D04, on a real disk: its file name, its place, its content structure filled in, its header's examples, and when it is written. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { record, type Recorder, type RecordOptions } from '../src/capture/record.ts'
import { leslie } from '../src/formats/leslie.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { memoryFileSource, readAll, writeTranscript } from './memory-files.ts'

/** 14:30 in the zone of the seed's examples, +08:00. */
const START = Date.parse('2026-02-08T06:30:00Z')
const PLACE = '.leslie/threads/thread-abc123/.meta/transcripts'
const timeZone = 'Asia/Shanghai'

let folder: string
let now: number
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'hansard-leslie-'))
  now = START
})

const begin = (options: RecordOptions = {}): Promise<Recorder> =>
  record({
    home: join(folder, 'home'),
    cwd: folder,
    formats: ['leslie'],
    thread: 'thread-abc123',
    chat: 'chat-xyz789',
    mode: 'agent',
    timeZone,
    now: () => now,
    ...options,
  })
const names = (): string[] => {
  const place = join(folder, PLACE)
  return fs.existsSync(place) ? fs.readdirSync(place).sort() : []
}
const only = (): string => {
  expect(names()).toHaveLength(1)
  return fs.readFileSync(join(folder, PLACE, names()[0] as string), 'utf8')
}

describe('the file', () => {
  it('has the name of the example, 20260208-1430-fix-login-bug.txt, in the thread’s storage location', async () => {
    const session = await begin()
    session.user('fix login bug')
    await session.end()
    expect(names()).toEqual(['20260208-1430-fix-login-bug.txt'])
  })

  it('has the content structure of the seed, line by line', async () => {
    const session = await begin()
    session.user('{user message}')
    now += 60_000
    session.assistant('{assistant response}')
    const callId = session.toolCall({ name: '{toolName}', input: '{truncated params}' })
    session.toolResult({ callId, output: '{truncated result}' })
    now += 240_000
    session.error('{error message}')
    await session.end({ stopReason: 'end_turn' })
    expect(only()).toBe(`Thread ID: thread-abc123
Chat ID: chat-xyz789
Time Range: 2026-02-08T14:30:00+08:00 ~ 2026-02-08T14:35:00+08:00
Agent Mode: agent
Stop Reason: end_turn
Tool Calls: 1
---

user:
<user_query>
{user message}
</user_query>

assistant:
{assistant response}

[Tool call] {toolName}
{truncated params}

[Tool result] {toolName}
{truncated result}

[Error]
{error message}
`)
  })

  it('sorts by time when it is sorted by name', async () => {
    const session = await begin()
    const asked = ['zebra', 'apple', 'mango', 'Über', '修复']
    for (const query of asked) {
      session.user(query)
      now += 3_600_000
    }
    await session.end()
    expect(names().map((name) => name.slice('20260208-1430-'.length, -'.txt'.length))).toEqual(asked)
  })
})

describe('the header’s examples', () => {
  const HEADER = `Thread ID: thread-abc123
Chat ID: chat-xyz789
Time Range: 2026-02-08T14:30:00+08:00 ~ 2026-02-08T14:45:00+08:00
Agent Mode: duet
Stop Reason: max_tokens
Tool Calls: 15
---

user:
<user_query>
hello
</user_query>
`

  it('are read, each under its own name', async () => {
    const [found] = await readAll(leslie, memoryFileSource('x.txt', HEADER))
    expect(found?.session).toMatchObject({
      thread: 'thread-abc123',
      chat: 'chat-xyz789',
      startedAt: '2026-02-08T06:30:00.000Z',
      endedAt: '2026-02-08T06:45:00.000Z',
      mode: 'duet',
      stopReason: 'max_tokens',
      status: 'completed',
    })
    expect(found?.entries[0]?.metadata?.['leslie']).toMatchObject({ toolCalls: 15 })
  })

  it.each([
    ['as they stand', HEADER],
    ['with the mode plan', HEADER.replace('duet', 'plan')],
    ['with the mode review', HEADER.replace('duet', 'review')],
    ['with the stop reason cancelled', HEADER.replace('max_tokens', 'cancelled')],
    ['without the optional stop reason', HEADER.replace('Stop Reason: max_tokens\n', '')],
  ])('are written back %s, byte for byte', async (_, text) => {
    const [found] = await readAll(leslie, memoryFileSource('x.txt', text))
    const { files } = writeTranscript(leslie, found as Transcript, { timeZone })
    expect([...files.values()].map((bytes) => bytes.toString('utf8'))).toEqual([text])
  })
})

describe('generation', () => {
  it('comes when the unit ends: with the next user message, and for the last one at the end', async () => {
    const session = await begin()
    session.user('one')
    session.assistant('first answer')
    expect(names()).toEqual([])
    session.user('two')
    expect(names()).toEqual(['20260208-1430-one.txt'])
    await session.end()
    expect(names()).toEqual(['20260208-1430-one.txt', '20260208-1430-two.txt'])
  })

  it('keeps 50 files of a thread over several sessions, and deletes the oldest', async () => {
    for (let n = 0; n < 3; n += 1) {
      const session = await begin({ chat: `chat-${n}` })
      for (let unit = 0; unit < 20; unit += 1) {
        session.user(`query ${n}`)
        now += 60_000
      }
      await session.end()
    }
    expect(names()).toHaveLength(50)
    expect(names()[0]).toBe('20260208-1440-query-0.txt')
    expect(names().at(-1)).toBe('20260208-1529-query-2.txt')
  })
})
