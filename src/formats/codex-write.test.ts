import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { codexCanHold } from '../../test/codex-can-hold.ts'
import { memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { createCallFold } from '../transcript/totals.ts'
import { codex } from './codex.ts'

const session: Session = { id: '01939a6e-0000-7000-8000-000000000001', status: 'completed' }
const entry = (facts: Partial<Entry>, sequence = 0): Entry => ({
  id: `primary/${sequence}`,
  source: 'primary',
  sequence,
  kind: 'message',
  role: 'assistant',
  blocks: [],
  ...facts,
})

describe('a session of another format', () => {
  it('reads back as what rollouts can hold of it', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (given) => {
        const { files } = writeTranscript(codex, given)
        const read = await readAll(codex, memorySource(files))
        const held = codexCanHold(given)
        const isRoot = ({ session }: { session: Session }): boolean => session.parent === undefined
        const ordered = [...read.filter(isRoot), ...read.filter((one) => !isRoot(one))]
        expect(ordered).toHaveLength(held.length)
        for (const [index, { session, messages }] of held.entries()) {
          expect(ordered[index]?.session).toMatchObject(session)
          expect(ordered[index]?.damage).toEqual([])
          const own = ordered[index]?.entries.filter(({ kind }) => kind === 'message') ?? []
          expect(own.map(toHeld)).toEqual(messages)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('says what is lost and what is filled in', () => {
    const { lost, filled } = writeTranscript(codex, {
      session: { ...session, tags: { a: 'b' } },
      entries: [
        entry({
          blocks: [
            { type: 'text', text: 'a' },
            { type: 'tool-call', name: 'Bash', input: {} },
            { type: 'unknown', raw: { x: 1 } },
          ],
          usage: { output: 3, quality: 'partial' },
          stopReason: 'end_turn',
        }),
        entry({ kind: 'event', blocks: [{ type: 'unknown', raw: { type: 'mode' } }] }, 1),
      ],
    })
    expect(lost.map(({ what }) => what)).toEqual([
      'usage quality, stop reason, an unknown block, block boundaries',
      'the whole entry: Codex has no record for it',
      'session id',
      'tags',
    ])
    expect(filled.map(({ what }) => what)).toEqual([
      'cwd',
      'cli_version',
      'timestamp',
      'timestamp',
      'call_id',
      'usage',
      'timestamp',
    ])
  })

  it('says so where a model or a usage has no answer to stand on', async () => {
    const usage = { input: 1, cacheRead: 0, output: 2, reasoning: 0, quality: 'reported' as const }
    const call = { type: 'tool-call', callId: 'c', name: 'Bash', input: {} } as const
    const text = { type: 'text', text: 'a' } as const
    const facts = { model: 'm', usage }
    const { files, lost } = writeTranscript(codex, {
      session,
      entries: [
        entry({ ...facts, role: 'system', blocks: [text] }),
        entry({ ...facts, role: 'user', blocks: [call, text] }, 1),
        entry({ ...facts, blocks: [{ type: 'error', message: 'no', code: 'x' }] }, 2),
        entry({ ...facts, blocks: [{ type: 'unknown', raw: 1 }] }, 3),
        entry({ ...facts, blocks: [text, { type: 'error', message: 'no', code: 'x' }] }, 4),
      ],
    })
    expect(lost.map(({ what }) => what)).toEqual([
      'model, usage',
      'role, usage, block boundaries',
      'role, model, usage',
      'the whole entry: Codex keeps only what it used',
      'role, block boundaries',
      'session id',
    ])
    const [only] = await readAll(codex, memorySource(files))
    const fold = createCallFold()
    for (const one of only?.entries ?? []) fold.add(one)
    expect(fold.totals().usage).toMatchObject({ input: 5, output: 10 })
  })

  it('counts a call once that several of its records report', async () => {
    const report = (output: number, sequence: number): Entry =>
      entry(
        {
          blocks: [{ type: 'text', text: 'a' }],
          usage: { input: 100, output, quality: 'reported' },
          call: { messageId: 'm1' },
        },
        sequence,
      )
    const { files } = writeTranscript(codex, { session, entries: [report(1, 0), report(1, 1), report(9, 2)] })
    const [only] = await readAll(codex, memorySource(files))
    const fold = createCallFold()
    for (const one of only?.entries ?? []) fold.add(one)
    expect(fold.totals().usage).toMatchObject({ input: 100, output: 9 })
  })

  it('writes a rollout for each subagent, which names the thread that started it', async () => {
    const { files } = writeTranscript(codex, {
      session: { ...session, startedAt: '2026-02-10T10:00:01.000Z' },
      entries: [
        entry({ role: 'user', blocks: [{ type: 'text', text: 'go' }] }),
        entry({ source: 'subagent:x', id: 'subagent:x/0', blocks: [{ type: 'text', text: 'went' }] }),
      ],
    })
    expect([...files.keys()]).toHaveLength(2)
    expect([...files.keys()][0]).toBe(`sessions/2026/02/10/rollout-2026-02-10T10-00-01-${session.id}.jsonl`)
    const [main, child] = (await readAll(codex, memorySource(files))).sort((a) =>
      a.session.parent === undefined ? -1 : 1,
    )
    expect(child?.session.parent).toEqual({ session: main?.session.id, relation: 'subagent' })
  })

  it('never writes over a rollout that is there', () => {
    const { files } = writeTranscript(codex, { session, entries: [] })
    expect(() => writeTranscript(codex, { session, entries: [entry({})] }, { files })).toThrow(
      /already there/,
    )
  })
})

function toHeld({ role, at, blocks, model, usage }: Entry): Partial<Entry> {
  const { raw: _, ...counts } = usage ?? { quality: 'reported' }
  return {
    ...(role && { role }),
    ...(at && { at }),
    blocks,
    ...(model && { model }),
    ...(usage && { usage: counts }),
  }
}
