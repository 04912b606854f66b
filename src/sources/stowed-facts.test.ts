import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Entry } from '../transcript/entry.ts'
import { addTold, type Told } from './stowed-facts.ts'
import { MOST_SPAWNS } from './spawns.ts'
import { createStowing } from './stowing.ts'
import { createWorkFold, MOST_TOOLS, type SessionWork } from './work.ts'
import { MOST_FILES } from './work-files.ts'

const at = (second: number): string => new Date(1_770_000_000_000 + second * 1000).toISOString()

const entry = fc.record({
  second: fc.nat(5000),
  source: fc.constantFrom('primary', 'subagent:a'),
  tool: fc.constantFrom('Read', 'Edit', 'Write', 'Grep', '__proto__'),
  path: fc.constantFrom('/a', '/b', '/c', '__proto__'),
  isError: fc.boolean(),
})

type Did = typeof entry extends fc.Arbitrary<infer T> ? T : never

function entriesOf(dids: readonly Did[]): readonly Entry[] {
  return dids.flatMap(({ second, source, tool, path, isError }, n): Entry[] => {
    const call = { type: 'tool-call', callId: `t${n}`, name: tool, input: { file_path: path } } as const
    const result = { type: 'tool-result', callId: `t${n}`, output: 'x', ...(isError && { isError }) } as const
    const shared = { source, kind: 'message', at: at(second) } as const
    return [
      { ...shared, id: `${n}`, sequence: n * 2, role: 'assistant', blocks: [call] },
      { ...shared, id: `${n}r`, sequence: n * 2 + 1, role: 'tool', blocks: [result] },
    ]
  })
}

function told(entries: readonly Entry[], models: readonly string[]): Told {
  const work = createWorkFold()
  for (const one of entries) work.add(one)
  const count = entries.length
  const totals = { entries: count, toolCalls: count / 2, calls: 0, models }
  const session = { id: 's', status: 'completed' as const, totals }
  return { facts: { key: 'k', session, entries: count, toolCalls: count / 2, work: work.end() }, started: [] }
}

/** Letters of a file in any order, and of what was busy how much. */
function comparable({ facts }: Told): unknown {
  const {
    activity,
    findings: _findings,
    files,
    rest,
    sources,
    tools,
    repeats: _repeats,
    ...work
  } = facts.work
  const { rereads: _rereads, ...counts } = work
  return {
    ...facts,
    work: counts,
    sources: sources.toSorted(),
    tools: tools.toSorted(),
    files: Object.entries(files)
      .map(([path, letters]) => `${path} ${letters.split('').toSorted().join('')}`)
      .toSorted(),
    calls: Object.entries(rest)
      .map(([tool, [calls, failed, ms, timed]]) => `${tool} ${calls} ${failed} ${ms} ${timed}`)
      .toSorted(),
    busy: activity?.counts.reduce((sum, count) => sum + count, 0),
    from: activity?.from,
    isLongEnough: (activity?.counts.length ?? 0) <= 24,
  }
}

/** On disk, and taken from there. */
function putAway(all: Told): Told {
  const stowing = createStowing(0)
  const taken = stowing.take(stowing.put(all))
  stowing.close()
  return taken
}

it('adds up to what is told of a session that nothing came between', () => {
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 30 }), fc.nat(30), (dids, cut) => {
      const all = entriesOf(dids)
      const point = Math.min(cut, dids.length) * 2
      const parts = [told(all.slice(0, point), ['m']), told(all.slice(point), ['m', 'n'])] as const
      const [before, since] = [putAway(parts[0]), parts[1]]
      expect(comparable(addTold(before, since))).toEqual(comparable(told(all, ['m', 'n'])))
    }),
  )
})

it('names no more files than a session that nothing came between', () => {
  const some = (from: number): Told => {
    const dids = Array.from({ length: 800 }, (_, n) => ({
      second: n,
      source: 'primary' as const,
      tool: 'Read' as const,
      path: `/${from + n}`,
      isError: false,
    }))
    return told(entriesOf(dids as unknown as Did[]), [])
  }
  const { work } = addTold(putAway(some(0)), some(400)).facts
  expect(Object.keys(work.files)).toHaveLength(MOST_FILES)
  expect([work.isCut, work.touched]).toEqual([true, 1200])
})

it('tells once of a session that was started, by who told of it first', () => {
  const mention = (citation: string) =>
    ({ session: 'child', parent: { session: 'k', citation, relation: 'subagent' } }) as const
  const both = addTold(
    { ...told([], []), started: [mention('k#1')] },
    { ...told([], []), started: [mention('k#9')] },
  )
  expect(both.started).toEqual([mention('k#1')])
})

it('does not grow with how often a session goes on, whatever it calls and starts', () => {
  const some = (from: number): Told => {
    const names = Array.from({ length: MOST_TOOLS }, (_, n) => `tool ${from + n}`)
    const rest = Object.fromEntries(names.map((name) => [name, [1, 0, 0, 0, 0, 0] as const]))
    const started = Array.from({ length: MOST_SPAWNS }, (_, n) => ({ session: `child ${from + n}` }))
    const { facts } = told([], [])
    return { facts: { ...facts, work: { ...facts.work, rest } satisfies SessionWork }, started }
  }
  let all = some(0)
  for (let time = 1; time < 4; time += 1) all = addTold(putAway(all), some(time * MOST_SPAWNS))
  const { rest } = all.facts.work
  expect(Object.keys(rest)).toHaveLength(MOST_TOOLS + 1)
  expect(rest['(others)']?.[0]).toBe(3 * MOST_TOOLS)
  expect(all.started).toHaveLength(MOST_SPAWNS)
})

it('ends when the later of both does, however that is spelled', () => {
  const lastAt = (...spelled: readonly string[]): string | undefined => {
    const [before, since] = spelled.map((one) => {
      const { facts, started } = told([], [])
      return { facts: { ...facts, work: { ...facts.work, lastAt: one } }, started }
    })
    return addTold(before as Told, since as Told).facts.work.lastAt
  }
  const [early, late] = ['2026-02-02T10:00:00.000+what', '2026-02-02T11:00:00.000Z']
  expect([lastAt(early, late), lastAt(late, early)]).toEqual([late, late])
})
