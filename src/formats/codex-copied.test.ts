import { describe, expect, it } from 'vitest'
import {
  answered,
  asked,
  at,
  called,
  counted,
  event,
  meta,
  OWN_TURN,
  PARENT,
  read,
  said,
  text,
  THREAD,
  totals,
} from '../../test/codex-lines.ts'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { toSessionId } from './codex-facts.ts'
import { codex } from './codex.ts'

const OLD_TURN = '01990000-1000-7000-8000-00000000000c'

describe('trap 5: history that was copied', () => {
  const parentMeta = meta({ id: PARENT })
  const spawned = { source: { subagent: { thread_spawn: { parent_thread_id: PARENT, depth: 1 } } } }
  const replayed = (turnId: string): JsonObject[] => [
    event('task_started', { turn_id: turnId }),
    said('old'),
    counted([1000, 0, 100, 0]),
  ]
  const own = (turnId: string, second: number): JsonObject[] => [
    event('task_started', { turn_id: turnId }, second),
    said('new', second),
    counted([1300, 0, 120, 0], [300, 0, 20, 0], second),
  ]

  it.each<[string, JsonObject[]]>([
    ['a fork', [meta({ forked_from_id: PARENT }), parentMeta, ...replayed(OLD_TURN), ...own(OWN_TURN, 1)]],
    [
      'a fork without the parent’s first record',
      [meta({ forked_from_id: PARENT }), ...replayed(OLD_TURN), ...own(OWN_TURN, 1)],
    ],
    ['a subagent', [meta(spawned), parentMeta, ...replayed(OLD_TURN), ...own(OWN_TURN, 1)]],
    [
      'a fork whose turns have no time in their ids',
      [meta({ forked_from_id: PARENT }), parentMeta, ...replayed('turn-1'), ...own('turn-2', 30)],
    ],
  ])('is not billed again in %s', async (_, lines) => {
    const all = await read(...lines)
    expect(totals(all)).toMatchObject({ calls: 1, input: 300, output: 20 })
    expect(all.session.native?.sessionId).toBe(THREAD)
    const relation = JSON.stringify(lines[0]).includes('forked_from_id') ? 'fork' : 'subagent'
    expect(all.session.parent).toEqual({ session: toSessionId(PARENT), relation })
    const isOld = all.entries.map(({ metadata }) => metadata?.['replayed'] === true)
    expect(isOld).toEqual(
      lines.map((one, index) => index > 0 && index < lines.length - 3 && one !== undefined),
    )
  })

  it('ends where the first line says that it does', async () => {
    const lines = [parentMeta, ...replayed('t'), ...own('t', 1)]
    const numbered = lines.map((one, index) => ({ ...one, ordinal: index + 1 }))
    const all = await read(meta({ ...spawned, subagent_history_start_ordinal: 5 }), ...numbered)
    expect(totals(all)).toMatchObject({ calls: 1, input: 300, output: 20 })
  })

  it.each<[string, JsonObject[]]>([
    ['no record of its parent’s session', [said('old'), counted([1000, 0, 100, 0])]],
    ['a turn that is older than it', replayed(OLD_TURN)],
  ])('is not billed again in a subagent with %s, written within a second', async (_, copied) => {
    const all = await read(meta(spawned), asked('task'), ...copied, ...own(OWN_TURN, 1))
    expect(totals(all)).toMatchObject({ calls: 1, input: 300, output: 20 })
    const later = await read(meta(spawned), ...copied, ...own('turn', 9))
    expect(totals(later)).toMatchObject({ calls: 1, input: 300, output: 20 })
  })

  it('ends where the first line says, though nothing shows where it began', async () => {
    const lines = [
      said('old'),
      counted([1000, 0, 100, 0]),
      said('new'),
      counted([1300, 0, 120, 0], [300, 0, 20, 0]),
    ]
    const numbered = lines.map((one, index) => ({ ...one, ordinal: index + 1 }))
    const all = await read(meta({ ...spawned, subagent_history_start_ordinal: 3 }), ...numbered)
    expect(totals(all)).toMatchObject({ calls: 1, input: 300, output: 20 })
    expect(all.entries.map(({ metadata }) => metadata?.['replayed'] === true)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ])
  })

  it('ends with the first turn that says it started after the thread did', async () => {
    const second = Date.parse(at(0)) / 1000
    const started = (startedAt: number): JsonObject => event('task_started', { started_at: startedAt })
    const all = await read(
      meta({ forked_from_id: PARENT }),
      started(second - 60),
      said('old'),
      counted([1000, 0, 100, 0]),
      started(second),
      said('new'),
      counted([1300, 0, 120, 0], [300, 0, 20, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 1, input: 300, output: 20 })
  })

  it('does not begin in the middle: what comes after a turn of its own is its own', async () => {
    const all = await read(
      meta(),
      event('task_started', { turn_id: OWN_TURN }),
      said('a'),
      counted([100, 0, 10, 0]),
      parentMeta,
      said('b'),
      counted([150, 0, 15, 0], [50, 0, 5, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 2, input: 150, output: 15 })
  })

  it('is not seen where a subagent says nothing of turns and answers later', async () => {
    const all = await read(
      meta(spawned),
      asked('task'),
      said('a', 30),
      counted([100, 0, 10, 0], undefined, 31),
    )
    expect(totals(all)).toMatchObject({ calls: 1, input: 100, output: 10 })
  })

  it('is not seen where a subagent began with nothing, however fast it was', async () => {
    const all = await read(
      meta(spawned),
      event('task_started', { turn_id: OWN_TURN }),
      said('a'),
      counted([100, 0, 10, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 1, input: 100, output: 10 })
  })

  it('names its calls alike wherever the file was copied to', async () => {
    const content = text(meta(), said('a'), counted([100, 0, 10, 0]))
    const all = await readAll(codex, memorySource(files({ 'a.jsonl': content, 'b/c.jsonl': content })))
    expect(all).toHaveLength(2)
    expect(all[0]?.session.id).not.toBe(all[1]?.session.id)
    expect(all[0]?.session.native).toEqual(all[1]?.session.native)
    expect(
      totals({ ...(all[0] as Transcript), entries: all.flatMap(({ entries }) => entries) }),
    ).toMatchObject({
      calls: 1,
      input: 100,
    })
  })
})

describe('rollouts of one thread', () => {
  it('name their calls apart, where the later goes on from the earlier', async () => {
    const base = { thread_id: THREAD, end_ordinal_exclusive: 3 }
    const ids = async (...lines: readonly Json[]): Promise<(string | undefined)[]> =>
      (await read(...lines)).entries.map(({ call }) => call?.messageId).filter((id) => id !== undefined)
    const earlier = await ids(meta(), said('a'), counted([9, 0, 1, 0]))
    const later = await ids(meta({ history_base: base }), said('b'), counted([19, 0, 2, 0], [10, 0, 1, 0]))
    expect(earlier).toEqual([`${THREAD}/0`])
    expect(later).toHaveLength(1)
    expect(later).not.toEqual(earlier)
    expect(await ids(meta({ history_base: base }), said('b'))).toEqual(later)
  })

  it('name their calls apart, where only the first count tells that the later goes on', async () => {
    const ids = ({ entries }: Transcript): unknown[] =>
      entries.map(({ call }) => call?.messageId).filter((id) => id !== undefined)
    const lines = [meta(), asked('go'), said('a'), called('c1'), answered('c1'), said('b')]
    const later = await read(...lines, counted([19, 0, 5, 0], [10, 0, 1, 0]))
    expect(totals(later)).toEqual({
      calls: 1,
      input: 10,
      cacheRead: 0,
      output: 1,
      reasoning: 0,
      quality: 'partial',
    })
    const first = ids(await read(...lines, counted([10, 0, 1, 0])))
    expect(first).toEqual([`${THREAD}/0`, `${THREAD}/0`, `${THREAD}/1`])
    expect(ids(later)).toHaveLength(3)
    for (const id of ids(later)) expect(first).not.toContain(id)
    // A copy of the file is the same calls.
    expect(ids(await read(...lines, counted([19, 0, 5, 0], [10, 0, 1, 0])))).toEqual(ids(later))
  })

  it('are one where a line is damaged: the count may have stood in it', async () => {
    const broken = `${text(meta(), said('a'))}{"timestamp":\n${text(said('b'), counted([19, 0, 5, 0], [10, 0, 1, 0]))}`
    const [one] = await readAll(codex, memoryFileSource('x.jsonl', broken))
    expect(one?.entries.map(({ call }) => call?.messageId)).toContain(`${THREAD}/0`)
    expect(totals(one as Transcript)).toMatchObject({ input: 10, output: 1, quality: 'partial' })
  })
})
