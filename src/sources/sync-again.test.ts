import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeDatabase } from '../../bench/opencode-sample.ts'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { openDatabase } from '../sqlite/driver.ts'

let machine: Machine
let path = ''
beforeEach(() => {
  machine = createMachine()
  const folder = join(machine.user, '.local/share/opencode')
  fs.mkdirSync(folder, { recursive: true })
  path = join(folder, 'opencode.db')
  machine.write(machine.log('a'), claudeLogs(2, { session: 'a' }))
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

describe('a database that cannot be read', () => {
  beforeEach(() => fs.writeFileSync(path, `SQLite format 3\0${'x'.repeat(5000)}`))

  it('has failed with the first sync and with every other, and is not read again', async () => {
    const first = await machine.sync()
    expect(first.files).toMatchObject({ seen: 2, new: 1, unchanged: 0, failed: 1 })
    expect(first.problems).toMatchObject([{ cause: 'damage', count: 1 }])
    expect(first.problems[0]?.example).toContain(path)
    for (let n = 0; n < 3; n += 1) {
      const later = await machine.sync()
      expect(later.files).toMatchObject({ seen: 2, new: 0, grown: 0, unchanged: 1, failed: 1 })
      expect(later).toMatchObject({ problems: first.problems, bytesRead: 0, sessions: 0 })
    }
  })

  it('has failed still when it was touched, and is taken in when it is mended', async () => {
    await machine.sync()
    fs.utimesSync(path, 1, 1)
    expect(await machine.sync()).toMatchObject({
      files: { unchanged: 1, failed: 1 },
      problems: [{ cause: 'damage' }],
    })
    fs.rmSync(path)
    await writeDatabase(path, 10_000)
    expect(await machine.sync()).toMatchObject({ files: { failed: 0 }, problems: [] })
    expect(await machine.list()).toHaveLength(2)
    expect(await machine.sync()).toMatchObject({ files: { unchanged: 2, failed: 0 }, problems: [] })
  })

  it('is not spoken of when it is gone, excluded, or of no place that is looked at', async () => {
    await machine.sync()
    expect(await machine.sync({ exclude: ['**/opencode/**'] })).toMatchObject({ problems: [] })
    expect(await machine.sync({ paths: [machine.log('a')] })).toMatchObject({ problems: [] })
    expect(await machine.sync()).toMatchObject({ problems: [{ cause: 'damage' }] })
    fs.rmSync(path)
    expect(await machine.sync()).toMatchObject({ files: { seen: 1, unchanged: 1, failed: 0 }, problems: [] })
  })
})

it('a database of which some pages are damaged has failed with every sync, and what can be read of it is there', async () => {
  await writeDatabase(path, 400_000)
  const whole = await openDatabase(path)
  whole.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  whole.close()
  const bytes = fs.readFileSync(path)
  for (let at = 40_000; at < bytes.length; at += 20_000) bytes.fill(0xee, at, at + 3000)
  fs.writeFileSync(path, bytes)
  const first = await machine.sync()
  expect(first).toMatchObject({ files: { new: 1, unchanged: 0, failed: 1 }, problems: [{ count: 1 }] })
  expect((await machine.list()).length).toBeGreaterThan(1)
  expect(await machine.sync()).toMatchObject({
    files: { new: 0, unchanged: 1, failed: 1 },
    problems: first.problems,
    bytesRead: 0,
  })
})
