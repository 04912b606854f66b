import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { openKept } from '../archive/kept.ts'
import { acquireLock } from '../archive/lock.ts'
import { readHealth } from './health.ts'
import { findLost, takeAgain, withoutLost } from './kept-health.ts'
import { peekState } from './state.ts'

const IDS = ['one', 'two', 'three']
let machine: Machine
beforeEach(() => {
  machine = createMachine()
  for (const id of IDS) machine.write(machine.log(id), claudeLogs(4, { session: id, text: id }))
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

type Examined = { readonly lost: Awaited<ReturnType<typeof findLost>>; readonly kept: number }

async function examine(): Promise<Examined> {
  const archive = machine.archive()
  const state = await peekState(archive)
  if (state === undefined) throw new Error('no state')
  try {
    const lost = await findLost(archive, state.database)
    const places = withoutLost(readHealth(state.database).places, lost)
    return { lost, kept: places.reduce((sum, { kept }) => sum + kept, 0) }
  } finally {
    state.close()
  }
}

const copyOf = (id: string): string => {
  const [place] = openKept(machine.archive()).places()
  return join(place?.folder ?? '', 'files/-p', `${id}.jsonl`)
}
const told = ({ lost }: Examined) => lost.map(({ file, problem, source }) => [file, problem, source])

describe('kept copies that were deleted or cut', () => {
  it('are found by their size, and taken in again by the sync after', async () => {
    await machine.sync()
    const before = await examine()
    expect(before.lost).toEqual([])
    fs.rmSync(copyOf('one'))
    fs.truncateSync(copyOf('two'), 100)
    const after = await examine()
    expect(told(after)).toEqual(
      expect.arrayContaining([
        [machine.log('one'), 'missing', 'there'],
        [machine.log('two'), 'shorter', 'there'],
      ]),
    )
    expect(after.lost).toHaveLength(2)
    expect(after.kept).toBe(fs.statSync(copyOf('three')).size + 100)
    expect(await takeAgain(machine.home, after.lost)).toBe(true)
    const report = await machine.sync()
    expect(report).toMatchObject({ files: { new: 1, grown: 1, unchanged: 1, failed: 0 }, problems: [] })
    for (const id of ['one', 'two'])
      expect(fs.readFileSync(copyOf(id))).toEqual(fs.readFileSync(machine.log(id)))
    expect(await examine()).toEqual(before)
    expect(await machine.sync()).toMatchObject({ files: { unchanged: 3 }, bytesRead: 0 })
    const { id } = (await machine.list()).find(({ native }) => native?.sessionId === 'one') ?? {}
    expect((await machine.texts(id ?? '')).length).toBeGreaterThan(0)
  })

  it('whose source is gone too are said to be so, and stay listed as they were read', async () => {
    await machine.sync()
    fs.rmSync(copyOf('one'))
    fs.rmSync(machine.log('one'))
    const { lost } = await examine()
    expect(lost).toMatchObject([{ file: machine.log('one'), problem: 'missing', source: 'gone' }])
    expect(await takeAgain(machine.home, lost)).toBe(true)
    expect(await machine.sync()).toMatchObject({ problems: [] })
    expect(await machine.list()).toHaveLength(3)
  })

  it('are not noted while another process is at work', async () => {
    await machine.sync()
    fs.rmSync(copyOf('one'))
    const { lost } = await examine()
    const { files, home } = machine.archive()
    const release = acquireLock(files, home)
    expect(await takeAgain(machine.home, lost)).toBe(false)
    release()
    expect(await takeAgain(machine.home, lost)).toBe(true)
  })
})

it('what is packed, or kept without its secrets, is as long as it may be', async () => {
  await machine.sync()
  const [place] = openKept(machine.archive()).places()
  machine.write('.claude/projects/-p/long.jsonl', claudeLogs(400, { session: 'long' }))
  machine.write(
    '.claude/projects/-p/secret.jsonl',
    claudeLogs(4, { session: 's', text: 'AKIAIOSFODNN7EXAMPLE'.repeat(50) }),
  )
  await machine.sync({ keep: 'redacted' })
  expect(await place?.pack('-p/long.jsonl')).toBe(true)
  expect(fs.existsSync(copyOf('long'))).toBe(false)
  expect((await examine()).lost).toEqual([])
})
