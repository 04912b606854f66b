import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { readSession } from '../archive/read-session.ts'
import { record } from '../capture/record.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Json } from '../transcript/json.ts'
import { takeLine, type Taken } from './record-line.ts'

/** The answers to some lines, and the entries that the journal then holds. */
async function take(lines: readonly (Json | undefined)[]): Promise<{ taken: Taken[]; entries: Entry[] }> {
  const home = fs.mkdtempSync(join(os.tmpdir(), 'hansard-lines-'))
  const session = await record({ home, cwd: home, redact: false })
  const taken = lines.map((line) => takeLine(session, line))
  await session.end()
  const entries: Entry[] = []
  for await (const items of readSession(openArchive(home), session.id)) {
    for (const item of items) if (item.type === 'entry') entries.push(item.entry)
  }
  return { taken, entries }
}

const problems = (taken: readonly Taken[]): (string | undefined)[] =>
  taken.map((answer) => (answer !== undefined && 'problem' in answer ? answer.problem : undefined))

describe('a line of hansard record', () => {
  it('is recorded with everything it says', async () => {
    const { taken, entries } = await take([
      {
        role: 'assistant',
        text: 'hi',
        id: 'mine',
        at: '2025-01-15T09:15:35+01:00',
        model: 'm',
        usage: { input: 3, output: 4, service_tier: 'x', cacheRead: -1 },
        stopReason: 'end_turn',
        durationMs: 12,
        call: { provider: 'p', messageId: 'msg_1' },
        metadata: { a: 1 },
        extra: [1],
      },
    ])
    expect(taken).toEqual([undefined])
    expect(entries).toMatchObject([
      {
        id: 'mine',
        role: 'assistant',
        at: '2025-01-15T08:15:35.000Z',
        blocks: [{ type: 'text', text: 'hi' }],
        model: 'm',
        usage: { input: 3, output: 4, quality: 'reported', raw: { service_tier: 'x' } },
        stopReason: 'end_turn',
        durationMs: 12,
        call: { provider: 'p', messageId: 'msg_1' },
        metadata: { a: 1, extra: [1] },
      },
    ])
    expect(entries[0]?.usage).not.toHaveProperty('cacheRead')
  })

  it('drops nothing that it says in the wrong place or with the wrong type', async () => {
    const { taken, entries } = await take([
      {
        role: 'user',
        text: 'hi',
        name: 'Ada',
        model: 7,
        usage: 'x',
        durationMs: -1,
        metadata: [1],
        call: 'c',
      },
      {
        role: 'assistant',
        blocks: [{ type: 'text', text: 'a', cited: [1] }],
        text: 'the same',
        usage: { input: -5 },
      },
      { type: 'tool-result', callId: 'c', output: { ok: true }, input: 3 },
      { type: 'tool-result', callId: 'd', output: null },
    ])
    expect(taken.every((answer) => answer === undefined)).toBe(true)
    expect(entries).toMatchObject([
      { metadata: { name: 'Ada', model: 7, usage: 'x', durationMs: -1, metadata: [1], call: 'c' } },
      { metadata: { text: 'the same', blockFields: [{ cited: [1] }] }, usage: { raw: { input: -5 } } },
      { blocks: [{ output: [{ type: 'unknown', raw: { ok: true } }] }], metadata: { input: 3 } },
      { blocks: [{ output: [{ type: 'unknown', raw: null }] }] },
    ])
  })

  it('may hold several results: each an entry, with one id and one usage between them', async () => {
    const result = (callId: string): Json => ({ type: 'tool-result', callId, output: callId })
    const { entries } = await take([
      {
        role: 'tool',
        id: 'mine',
        usage: { output: 5 },
        blocks: [result('a'), { type: 'text', text: 'and' }, result('b')],
      },
    ])
    expect(entries.map(({ blocks }) => blocks[0])).toMatchObject([
      { callId: 'a' },
      { callId: 'b' },
      { output: [{ type: 'text', text: 'and' }] },
    ])
    expect(new Set(entries.map(({ id }) => id)).size).toBe(3)
    expect(entries.filter(({ usage }) => usage !== undefined)).toHaveLength(1)
  })

  it('takes a cost however a program writes the number', async () => {
    const { taken } = await take([
      { type: 'cost', usd: 1e-7 },
      { type: 'cost', usd: '0.12' },
      { type: 'cost', usd: 2 },
    ])
    expect(taken).toEqual([undefined, undefined, undefined])
  })

  it('may be a call, a result however it is spelled, an error or an event', async () => {
    const { taken, entries } = await take([
      { type: 'tool-call', name: 'Read', callId: 'c1', input: { p: 1 } },
      { type: 'tool-result', callId: 'c1', output: 'a' },
      { role: 'tool', callId: 'c2', name: 'Bash', text: 'b' },
      { role: 'tool', blocks: [{ type: 'tool-result', callId: 'c3', output: 'c', isError: true }] },
      { type: 'error', message: 'boom', code: 'E' },
      { type: 'event', record: 'compaction', raw: { n: 1 } },
    ])
    expect(taken.every((answer) => answer === undefined)).toBe(true)
    expect(entries.map(({ blocks }) => blocks[0])).toMatchObject([
      { type: 'tool-call', name: 'Read', callId: 'c1', input: { p: 1 } },
      { type: 'tool-result', callId: 'c1', name: 'Read', output: 'a' },
      { type: 'tool-result', callId: 'c2', name: 'Bash', output: 'b' },
      { type: 'tool-result', callId: 'c3', output: 'c', isError: true },
      { type: 'error', message: 'boom', code: 'E' },
      { type: 'unknown', raw: { n: 1 } },
    ])
  })

  it('says how the session ends', async () => {
    const { taken } = await take([{ type: 'end', status: 'failed', error: 'e', stopReason: 'max_tokens' }])
    expect(taken).toEqual([{ ended: { status: 'failed', error: 'e', stopReason: 'max_tokens' } }])
  })

  it('keeps a block it does not know, whole', async () => {
    const strange = { type: 'audio', data: 'x' }
    const { entries } = await take([{ role: 'user', blocks: [strange, { type: 'text', text: 'a' }, 7] }])
    expect(entries[0]?.blocks).toEqual([
      { type: 'unknown', raw: strange },
      { type: 'text', text: 'a' },
      { type: 'unknown', raw: 7 },
    ])
  })

  it('is answered with what is wrong, and then nothing is recorded', async () => {
    const { taken, entries } = await take([
      undefined,
      [],
      { role: 'user' },
      { text: 'x' },
      { role: 'user', text: 'x', at: 'soon' },
      { role: 'user', text: 'x', source: 'elsewhere' },
      { type: 'tool-call' },
      { type: 'nope' },
      { type: 'end', status: 'running' },
      { type: 'cost', usd: 'much' },
      { type: 'cost', usd: -1 },
      { type: 'update', titel: 'x' },
      { type: 'end', at: 'soon' },
      { role: 'user', text: 'x', source: 7 },
    ])
    expect(problems(taken).every((problem) => problem !== undefined)).toBe(true)
    expect(entries).toEqual([])
  })

  it('never throws, whatever it holds', async () => {
    const line = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          type: fc.constantFrom(
            'message',
            'tool-call',
            'tool-result',
            'error',
            'event',
            'cost',
            'update',
            'end',
          ),
          role: fc.constantFrom('user', 'assistant', 'tool', 'x'),
          text: fc.jsonValue(),
          blocks: fc.jsonValue(),
          source: fc.constantFrom('primary', 'subagent:a', '__proto__'),
          usage: fc.jsonValue(),
          output: fc.jsonValue(),
          usd: fc.jsonValue(),
          name: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 10 }), async (lines) => {
        const { taken, entries } = await take(lines as Json[])
        expect(entries.length).toBeLessThanOrEqual(lines.length * 3)
        expect(taken).toHaveLength(lines.length)
      }),
      { numRuns: 30 },
    )
  })
})
