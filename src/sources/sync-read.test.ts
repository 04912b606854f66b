import fs from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { claudeLog, createMachine, type Machine } from '../../test/machine.ts'
import { createCounts, readBeside } from './sync-read.ts'
import { rebuild, withState } from './sync.ts'

const machines: Machine[] = []
afterEach(() => {
  for (const { base } of machines.splice(0)) fs.rmSync(base, { recursive: true, force: true })
})

const idOf = (n: number): string => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`

/** Enough to be read beside, more files than are settled together, calls and sessions that several of them mention. */
async function createFull(): Promise<Machine> {
  const machine = createMachine()
  machines.push(machine)
  // What is new altogether is read before it is kept.
  machine.write(`.claude/projects/-0/${idOf(999)}.jsonl`, claudeLog(0, { session: idOf(999) }))
  await machine.sync()
  const long = 'what a tool gave back '.repeat(40_000)
  for (let n = 0; n < 20; n += 1) {
    const session = idOf(n)
    const lines = Array.from({ length: 4 }, (_, at) =>
      claudeLog(at, { session, ...(at === 0 && { text: long }) }),
    )
    machine.write(`.claude/projects/-a/${session}.jsonl`, lines.join(''))
  }
  // Of one session, some before and some after what is settled first; each repeats the call before.
  const session = idOf(99)
  machine.write(`.claude/projects/-b/${session}.jsonl`, claudeLog(0, { session }) + claudeLog(1, { session }))
  for (let n = 0; n < 260; n += 1) {
    const lines = [2 * n + 1, 2 * n + 3].map((at) =>
      claudeLog(at, { session, more: { isSidechain: true, agentId: `s${n}` } }),
    )
    machine.write(`.claude/projects/-b/${session}/subagents/agent-s${n}.jsonl`, lines.join(''))
  }
  for (let n = 0; n < 20; n += 1)
    machine.write(
      `.claude/projects/-c/${idOf(200 + n)}.jsonl`,
      claudeLog(1, { session: idOf(200 + (n % 15)) }),
    )
  return machine
}

it('gives what reading all of it after it was kept gives', async () => {
  const machine = await createFull()
  const doing: string[] = []
  const report = await machine.sync({
    onProgress: ({ doing: now }) => void (doing.at(-1) !== now && doing.push(now)),
  })
  expect(report).toMatchObject({ files: { new: 301, failed: 0 }, sessions: 36, problems: [] })
  // What is read beside is not told of while something is kept.
  expect(doing).toEqual(['looking', 'keeping', 'reading'])
  const list = await machine.list()
  expect(list).toHaveLength(37)
  await rebuild(machine.archive())
  expect(await machine.list()).toEqual(list)
  expect(await machine.sync()).toMatchObject({ files: { unchanged: 302 }, sessions: 0, bytesRead: 0 })
})

it('is gone on with after it was stopped', async () => {
  const machine = await createFull()
  const stopping = new AbortController()
  await machine.sync({
    signal: stopping.signal,
    onProgress: ({ doing, done }) => void (doing === 'keeping' && done > 290 && stopping.abort()),
  })
  await machine.sync()
  const list = await machine.list()
  expect(list).toHaveLength(37)
  await rebuild(machine.archive())
  expect(await machine.list()).toEqual(list)
})

it('reads a unit again that another file was found to belong to while it was read where it lies', async () => {
  const machine = createMachine()
  machines.push(machine)
  const session = idOf(1)
  const paths = [`-p/${session}.jsonl`, `-p/${session}/subagents/agent-s.jsonl`]
  const root = `${machine.user}/.claude/projects`
  machine.write(`${root}/${paths[0]}`, claudeLog(0, { session }) + claudeLog(1, { session }))
  machine.write(`${root}/${paths[1]}`, claudeLog(3, { session, more: { isSidechain: true, agentId: 's' } }))
  await withState(machine.archive(), {}, async (shared) => {
    const { files } = shared
    const place = files.place('claude-code', root)
    files.look(
      place,
      paths.map((path) => ({ path, stamp: path, size: 1 })),
      true,
    )
    const [log, agent] = files.pending(0, 2)
    if (log === undefined || agent === undefined) throw new Error('two files are pending')
    let reads = 0
    const fileLists: typeof files.fileLists = (unit) => {
      reads += 1
      if (reads === 1) queueMicrotask(() => files.ahead(place, [{ file: agent.id, unit: log.path }]))
      return files.fileLists(unit)
    }
    const counts = createCounts()
    await readBeside({ ...shared, files: { ...files, fileLists } }, 1e9, {
      counts,
      async take(reading) {
        files.ahead(place, [{ file: log.id, unit: log.path }])
        reading?.more({ place, path: 'behind' })
      },
    })
    expect(reads).toBe(2)
    expect(counts.report()).toMatchObject({ sessions: 1, entries: 2 + 3 })
  })
})
