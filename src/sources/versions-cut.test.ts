/** Logs that were cut: what is known of a session, its calls and their cost is what was known of the whole. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as rollout from '../../test/codex-lines.ts'
import { claudeLog, claudeLogs, createMachine } from '../../test/machine.ts'
import { openArchive } from '../archive/archive.ts'
import { openKept, type KeptPlace } from '../archive/kept.ts'
import { claudeCode } from '../formats/claude-code.ts'
import { codex } from '../formats/codex.ts'
import { copilotCli } from '../formats/copilot-cli.ts'
import type { Format } from '../formats/format.ts'
import { pi } from '../formats/pi.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { createCallFold } from '../transcript/totals.ts'
import { bothReports, saysMore } from './entry-reports.ts'
import { withSessions } from './sessions.ts'
import { bothFacts, factsOver } from './version-facts.ts'
import { coveredVersions } from './versions-merged.ts'
import { readVersions, versionsOf } from './versions.ts'

const CLAUDE = 'aaaaaaaa-0000-4000-8000-000000000001'
const at = (second: number): string => new Date(Date.UTC(2026, 5, 1, 9, 0, second)).toISOString()
const toLines = (...records: readonly object[]): readonly string[] =>
  records.map((record) => `${JSON.stringify(record)}\n`)

const { meta, turn, asked, said, called, answered, counted, event } = rollout
const codexLines = toLines(
  meta(),
  turn('gpt-5.5'),
  asked('one'),
  said('thinking of it', 2),
  called('c1'),
  answered('c1'),
  counted([100, 20, 10, 0], [100, 20, 10, 0], 3),
  said('done', 4),
  event('agent_message', { message: 'done' }, 4),
  counted([300, 60, 30, 0], [200, 40, 20, 0], 5),
  asked('two'),
  said('no', 6),
  counted([600, 90, 60, 0], [300, 30, 30, 0], 7),
  event('thread_rolled_back', { num_turns: 1 }, 8),
  event('turn_aborted', { reason: 'interrupted' }, 9),
)

const piMessage = (n: number, message: object): object => ({
  type: 'message',
  id: `p${n}`,
  parentId: n === 1 ? null : `p${n - 1}`,
  timestamp: at(n),
  message: { timestamp: Date.parse(at(n)), ...message },
})
const piAnswer = (n: number, usage: object | undefined): object =>
  piMessage(n, {
    role: 'assistant',
    content: [{ type: 'text', text: `answer ${n}` }],
    api: 'anthropic-messages',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    stopReason: 'stop',
    ...(usage && { usage }),
  })
const piUsage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2, totalTokens: 20 }
const piHead = { type: 'session', version: 3, id: CLAUDE, timestamp: at(0), cwd: '/p' }
const piAsk = (n: number): object =>
  piMessage(n, { role: 'user', content: [{ type: 'text', text: `question ${n}` }] })
const piLines = toLines(
  piHead,
  piAsk(1),
  piAnswer(2, piUsage),
  piAsk(3),
  piAnswer(4, { ...piUsage, output: 50 }),
)

const copilotLine = (n: number, type: string, data: object): object => ({
  type,
  data,
  id: `e${n}`,
  timestamp: at(n),
  parentId: n === 0 ? null : `e${n - 1}`,
})
const copilotAnswer = (n: number, outputTokens: number): object =>
  copilotLine(n, 'assistant.message', {
    messageId: `m${n}`,
    apiCallId: `msg_${n}`,
    model: 'claude-sonnet-4.6',
    content: 'well',
    toolRequests: [],
    outputTokens,
  })
const copilotLines = toLines(
  copilotLine(0, 'session.start', {
    sessionId: CLAUDE,
    version: 1,
    producer: 'copilot-agent',
    copilotVersion: '1.0.68',
    startTime: at(0),
    selectedModel: 'claude-sonnet-4.6',
    context: { cwd: '/p', branch: 'main' },
  }),
  copilotLine(1, 'user.message', { content: 'list', transformedContent: 'list', attachments: [] }),
  copilotAnswer(2, 5),
  copilotLine(3, 'user.message', { content: 'more', transformedContent: 'more', attachments: [] }),
  copilotAnswer(4, 7),
  copilotLine(5, 'session.shutdown', {
    shutdownType: 'routine',
    totalPremiumRequests: 2,
    modelMetrics: {
      'claude-sonnet-4.6': {
        requests: { count: 2, cost: 1 },
        usage: { inputTokens: 100, outputTokens: 12, cacheReadTokens: 40, cacheWriteTokens: 0 },
      },
    },
    currentModel: 'claude-sonnet-4.6',
  }),
)

const claudeLines = [
  ...Array.from({ length: 6 }, (_, n) => claudeLog(n, { session: CLAUDE })),
  ...toLines({ type: 'custom-title', customTitle: 'Named', sessionId: CLAUDE }),
]

/** With a path whose name tells the session, as the agents' own do. */
const logs: readonly (readonly [Format, string, readonly string[]])[] = [
  [codex, `rollout-2026-02-10T10-00-00-${rollout.THREAD}.jsonl`, codexLines],
  [claudeCode, `-p/${CLAUDE}.jsonl`, claudeLines],
  [pi, `p/2026-06-01T09-00-00-000Z_${CLAUDE}.jsonl`, piLines],
  [copilotCli, `${CLAUDE}/events.jsonl`, copilotLines],
]

function setup(): KeptPlace {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'versions-cut-'))
  return openKept(openArchive(join(folder, 'home'), { write: true })).place('agent', join(folder, 'source'))
}

function keep(place: KeptPlace, path: string, content: string): Promise<unknown> {
  return place.keep(path, {
    async *chunks() {
      yield Buffer.from(content)
    },
  })
}

/** All that is known, but where it was read. */
async function read(place: KeptPlace, path: string, format: Format) {
  const sessions = new Map<string, Session>()
  const entries: Entry[] = []
  const calls = createCallFold()
  for await (const items of readVersions(versionsOf(place, [path]), [path], format)) {
    for (const item of items) {
      if (item.type === 'session') {
        const { recordings: _, ...session } = item.session
        sessions.set(session.id, session)
      } else if (item.type === 'entry') {
        const { origin: _, ...entry } = item.entry
        entries.push(entry)
        calls.add(item.entry)
      }
    }
  }
  return { sessions: [...sessions.values()], entries, totals: calls.totals() }
}

describe('a log of which a beginning is left', () => {
  for (const [format, path, lines] of logs) {
    it(`is known as the whole was, wherever it was cut: ${format.id}`, async () => {
      for (let left = 1; left < lines.length; left += 1) {
        for (const torn of ['', lines[left]?.slice(0, 20) ?? '']) {
          const place = setup()
          await keep(place, path, lines.join(''))
          const before = await read(place, path, format)
          expect([before.sessions.length, before.totals.calls > 1]).toEqual([1, true])
          await keep(place, path, lines.slice(0, left).join('') + torn)
          expect(await coveredVersions(place, [path], async () => format)).toEqual([])
          expect(await read(place, path, format)).toEqual(before)
          // Cut again.
          await keep(place, path, lines.slice(0, Math.ceil(left / 2)).join(''))
          expect(await read(place, path, format)).toEqual(before)
        }
      }
    })
  }
})

it('a log of which the end is left is known as the whole was', async () => {
  for (const [format, path, lines] of logs) {
    for (let left = 1; left < Math.min(6, lines.length); left += 1) {
      const place = setup()
      await keep(place, path, lines.join(''))
      const before = await read(place, path, format)
      await keep(place, path, lines.slice(left).join(''))
      expect(await read(place, path, format)).toEqual(before)
    }
  }
})

describe('a log that was cut and goes on', () => {
  it('still has the count that stood behind what the model said last', async () => {
    const [, path] = logs[0] as (typeof logs)[number]
    const place = setup()
    await keep(place, path, codexLines.join(''))
    const before = await read(place, path, codex)
    // Up to "done", whose count is in the older version alone.
    const more = toLines(event('background_event', { message: 'and on' }, 20))
    await keep(place, path, [...codexLines.slice(0, 8), ...more].join(''))
    const after = await read(place, path, codex)
    expect(after.totals).toEqual({ ...before.totals, entries: before.totals.entries + 1 })
    expect(after.entries).toHaveLength(before.entries.length + 1)
    expect(after.sessions[0]).toMatchObject({
      startedAt: before.sessions[0]?.startedAt,
      endedAt: rollout.at(20),
    })
  })

  it('keeps what an older version counted, and that version, where the newer has the record without', async () => {
    const [, path] = logs[2] as (typeof logs)[number]
    const place = setup()
    await keep(place, path, piLines.join(''))
    const { totals } = await read(place, path, pi)
    const now = [
      piHead,
      piAsk(1),
      piAnswer(2, undefined),
      piAsk(3),
      piAnswer(4, { ...piUsage, output: 60 }),
      piAsk(5),
    ]
    await keep(place, path, toLines(...now).join(''))
    const after = await read(place, path, pi)
    expect(after.entries).toHaveLength(now.length)
    // The newest has the word where it says something.
    expect(after.totals).toMatchObject({ calls: 2, usage: { ...totals.usage, output: 65 } })
    expect(await coveredVersions(place, [path], async () => pi)).toEqual([])
  })

  it('is held also among others that are looked at together', async () => {
    const place = setup()
    const paths = ['p/a.jsonl', 'p/b.jsonl']
    const of = (path: string, usage: object | undefined): string =>
      toLines({ ...piHead, id: path }, piAsk(1), piAnswer(2, usage)).join('')
    for (const usage of [piUsage, undefined])
      for (const path of paths) await keep(place, path, of(path, usage))
    expect(paths.map((path) => place.versions(path))).toEqual([[1], [1]])
    expect(await coveredVersions(place, paths, async () => pi)).toEqual([])
  })
})

describe('facts over versions', () => {
  const facts = (more: Partial<Session>): Session => ({ id: 's', status: 'completed', ...more })
  it('reach from the earliest start to the latest end, in whatever offset they are written', () => {
    const before = facts({ startedAt: '2026-06-01T10:00:00Z', endedAt: '2026-06-01T12:00:00Z' })
    const now = facts({ startedAt: '2026-06-01T09:30:00+01:00', endedAt: '2026-06-01T12:30:00+01:00' })
    expect(bothFacts(before, now)).toMatchObject({ startedAt: now.startedAt, endedAt: before.endedAt })
  })

  it('are the newest where both say something, but for how a session ended that went further', () => {
    const before = facts({
      title: 'a',
      model: 'm',
      endedAt: at(9),
      status: 'failed',
      error: 'no',
      stopReason: 'x',
    })
    const now = facts({ title: 'b', endedAt: at(5), status: 'interrupted' })
    expect(bothFacts(before, now)).toEqual({ ...before, title: 'b' })
    expect(bothFacts(before, { ...now, endedAt: at(9) })).toEqual({ ...before, ...now, endedAt: at(9) })
  })

  it('are those of the whole for a part of it, and the part states what the whole does not', () => {
    const of = (session: Session, size: number, isPart: boolean) => ({
      facts: new Map([['f\0s', session]]),
      sizes: new Map([['f\0s', size]]),
      isPart,
    })
    const whole = facts({ title: 'renamed', startedAt: at(1) })
    const part = facts({ title: 'first', cwd: '/p', startedAt: at(2), status: 'interrupted' })
    expect([...factsOver([of(whole, 3, false), of(part, 2, true)]).values()]).toEqual([
      { ...whole, cwd: '/p' },
    ])
    // A session of the unit that lost nothing is as the newest says.
    expect([...factsOver([of(whole, 3, false), of(part, 3, true)]).values()]).toMatchObject([
      { title: 'first' },
    ])
  })
})

it('of two reports the surer stays, with the name that its call has', () => {
  const older = { usage: { output: 9, quality: 'reported' as const }, call: { messageId: 'a' } }
  const now = { call: { messageId: 'b' }, model: 'm' }
  expect(bothReports(older, now)).toEqual({ ...older, model: 'm' })
  for (const quality of ['unavailable', 'estimated', 'partial'] as const) {
    const less = { ...now, usage: { output: 3, quality } }
    expect(bothReports(older, less)).toMatchObject({ usage: older.usage, call: now.call })
    expect(saysMore(bothReports(older, less), less)).toBe(true)
  }
  const other = { ...now, usage: { output: 3, quality: 'reported' as const } }
  expect(bothReports(older, other)).toEqual(other)
  expect(saysMore(bothReports(older, other), other)).toBe(false)
})

it('list and show say the same of a log that was cut, also of one that is only read in place', async () => {
  for (const isKept of [true, false]) {
    const machine = createMachine()
    const paths = [machine.log(CLAUDE), `.copilot/session-state/${CLAUDE}/events.jsonl`] as const
    const known = async () => {
      const list = await machine.list()
      const shown = await withSessions(machine.home, (sessions) =>
        Promise.all(
          list.map(async ({ id }) => {
            let last: Session | undefined
            for await (const items of sessions.read(sessions.find(id)))
              for (const item of items) if (item.type === 'session') last = item.session
            return last
          }),
        ),
      )
      return { list, shown }
    }
    machine.write(paths[0], claudeLogs(6, { session: CLAUDE }))
    machine.write(paths[1], copilotLines.join(''))
    await machine.sync()
    const before = await known()
    expect(before.list.map(({ status }) => status)).toEqual(['completed', 'completed'])
    machine.write(paths[0], claudeLogs(2, { session: CLAUDE }))
    machine.write(paths[1], copilotLines.slice(0, 3).join(''))
    await machine.sync({ keep: isKept })
    expect(await known()).toEqual(before)
    for (const [nth, { startedAt, endedAt, status }] of before.list.entries())
      expect(before.shown[nth]).toMatchObject({ startedAt, endedAt, status })
    fs.rmSync(machine.base, { recursive: true, force: true })
  }
})
