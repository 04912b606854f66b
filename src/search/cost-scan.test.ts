import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs, createMachine } from '../../test/machine.ts'
import { SAMPLES } from '../../test/kept-samples.ts'
import { toLines } from '../../test/torture/case.ts'
import { tortureCases } from '../../test/torture/cases.ts'
import { openArchive, type Archive } from '../archive/archive.ts'
import { record } from '../capture/record.ts'
import { peekState } from '../sources/state.ts'
import { sync } from '../sources/sync.ts'
import { COST_BY } from './cost-by.ts'
import { scanCost } from './cost-scan.ts'
import type { Bounds } from './cost-parts.ts'
import type { Machine } from './cost-units.ts'
import { queryCost, type CostAnswer, type CostQuestion } from './cost.ts'

/** On half hours, and within them. */
const BOUNDS: readonly Bounds[] = [
  {},
  { since: '2025-10-09T09:00:00.000Z' },
  { since: '2026-01-31T12:10:00.000Z' },
  { until: '2026-05-20T09:00:07.500Z' },
]

/** Sessions are told by more than what is asked here. */
function told({ rows, ...answer }: CostAnswer): object {
  const sums = rows.map((row) => {
    const { session: _, ...sum } = row
    return sum
  })
  return { ...answer, rows: sums.toSorted((a, b) => (a.key < b.key ? -1 : 1)) }
}

/** The same of a state that was synced from the same logs, for every question. */
async function expectSame(archive: Archive, machine: Machine): Promise<void> {
  const state = await peekState(archive)
  if (state === undefined) throw new Error('there is no state')
  const scanned = await scanCost(archive, machine)
  try {
    for (const by of [...COST_BY, 'block'] as const)
      for (const bounds of BOUNDS) {
        const question: CostQuestion = { by, utc: true, ...bounds }
        expect(told(scanned.ask(question)), by).toEqual(told(queryCost(state.database, question)))
      }
    expect(scanned.failed).toBe(0)
  } finally {
    scanned.close()
    state.close()
  }
}

const inOrder = (a: string, b: string): number => (a < b ? -1 : 1)

type Files = Readonly<Record<string, string | Buffer>>

async function withFiles(files: Files, work: (folder: string, logs: string) => Promise<void>): Promise<void> {
  const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'hansard-scan-')))
  const logs = join(folder, 'logs')
  try {
    for (const [path, text] of Object.entries(files)) {
      fs.mkdirSync(dirname(join(logs, path)), { recursive: true })
      fs.writeFileSync(join(logs, path), text)
    }
    await work(folder, logs)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const machineAt = (folder: string): Machine => ({
  env: {},
  userHome: folder,
  platform: process.platform,
  cwd: folder,
  exclude: [],
})

describe('costs read from nothing', () => {
  it('are those of an archive that was synced: forks, copies, stubs, what has no price, what was recorded here', async () => {
    const machine = createMachine()
    try {
      const [one, two, three] = [1, 2, 3].map((n) => `aaaaaaaa-0000-4000-8000-00000000000${n}`)
      const session = one as string
      machine.write(machine.log(session), claudeLogs(40, { session }))
      const fork = claudeLogs(20, { session }).replaceAll(`"sessionId":"${one}"`, `"sessionId":"${two}"`)
      machine.write(machine.log(two as string), fork + claudeLog(61, { session: two as string }))
      const odd = claudeLogs(12, { session: three as string }).replaceAll(
        'claude-sonnet-4-5',
        'nobody-prices-this',
      )
      machine.write(machine.log(three as string), odd)
      const scanned = { ...machineAt(machine.user), cwd: machine.cwd }
      await machine.sync()
      await expectSame(machine.archive(), scanned)

      // The same session twice: which of its recordings counts is asked of more than its calls.
      machine.write(`.claude/projects/-q/${one}.jsonl`, claudeLogs(44, { session }))
      await machine.sync()
      await expectSame(machine.archive(), scanned)

      for (const stub of [false, true]) {
        const recorder = await record({
          home: machine.home,
          cwd: machine.cwd,
          durability: 'os',
          flow: stub ? 'rehearsal' : 'build',
          stub,
          now: () => 1_772_000_000_000,
        })
        recorder.user('go')
        recorder.assistant('done', {
          model: 'gpt-5.5',
          usage: { input: 300_000, output: 9, quality: 'reported' },
        })
        await recorder.end()
      }
      await machine.sync()
      await expectSame(machine.archive(), scanned)
    } finally {
      fs.rmSync(machine.base, { recursive: true, force: true })
    }
  })

  it('need no archive, and write nothing', async () => {
    const session = 'aaaaaaaa-0000-4000-8000-000000000001'
    const files = { [`projects/-p/${session}.jsonl`]: claudeLogs(6, { session }) }
    await withFiles(files, async (folder, logs) => {
      const before = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted(inOrder)
      const machine = { ...machineAt(folder), env: { CLAUDE_CONFIG_DIR: logs } }
      for (const by of ['day', 'session'] as const) {
        const scanned = await scanCost(openArchive(join(folder, 'none')), machine)
        expect(scanned.ask({ by }).total).toMatchObject({ calls: 3, usage: { input: 30, output: 15 } })
        scanned.close()
      }
      expect(fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted(inOrder)).toEqual(before)
    })
  })

  it.each(tortureCases.map((one) => [`${one.format}: ${one.name}`, one] as const))(
    'are those of an archive: %s',
    async (_, { files, open = ['.'] }) => {
      await withFiles(files, async (folder, logs) => {
        const archive = openArchive(join(folder, 'home'), { write: true })
        const paths = open.map((path) => join(logs, path))
        await sync(archive, { paths, cwd: folder, env: {}, userHome: folder })
        await expectSame(archive, machineAt(folder))
      })
    },
  )

  it.each(SAMPLES.map((one) => [`${one.format}, ${one.title}`, one] as const))(
    'are those of an archive: %s',
    async (_, { path, records, isLines }) => {
      const text = isLines && Array.isArray(records) ? toLines(...records) : JSON.stringify(records)
      await withFiles({ [`below/${path}`]: text }, async (folder, logs) => {
        const archive = openArchive(join(folder, 'home'), { write: true })
        await sync(archive, { paths: [logs], cwd: folder, env: {}, userHome: folder })
        await expectSame(archive, machineAt(folder))
      })
    },
  )
})
