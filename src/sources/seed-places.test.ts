/** The seeds' own files, where their programs leave them: found in a working directory, and read run by run. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { record } from '../capture/record.ts'
import { formats } from '../formats/index.ts'
import { openSource } from './open.ts'
import { findPlaces } from './places.ts'
import { walk } from './walk.ts'

const SEEDS = ['devflow', 'weakincentives', 'leslie', 'entire', 'swarm']
let folder: string

beforeAll(async () => {
  folder = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'hansard-seeds-')))
  for (const flow of ['build', 'check']) {
    const session = await record({
      home: join(folder, 'archive'),
      cwd: join(folder, 'project'),
      formats: SEEDS,
      flow,
      step: 'implement',
      agentKey: 'coder',
      engine: 'claude',
      thread: `thread-${flow}`,
      chat: 'chat-1',
    })
    session.user('hello')
    session.assistant('hi')
    await session.end()
  }
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

describe.each(SEEDS)('%s', (id) => {
  const format = formats.find((format) => format.id === id)

  it('is found in the working directory, and each of its units is one run', async () => {
    expect(format).toBeDefined()
    const [place, ...others] = findPlaces(format === undefined ? [] : [format], {
      env: {},
      home: folder,
      platform: process.platform,
      folders: [join(folder, 'project')],
    })
    expect(others).toEqual([])
    expect(place?.root).toMatch(new RegExp(`^${folder}/project/`))
    const units = new Map<string, string[]>()
    for (const { path, size } of walk(place?.root ?? '', { files: place?.files ?? [] })) {
      const file = (await (await openSource(join(place?.root ?? '', path))).list())[0]
      const unit = (file && (await format?.unit?.({ ...file, path, sizeBytes: size }))) ?? path
      units.set(unit, [...(units.get(unit) ?? []), path])
    }
    expect(units.size).toBe(2)
    for (const [unit, paths] of units) {
      const source = await openSource(join(place?.root ?? '', unit))
      let sessions = 0
      for await (const items of format?.read(source) ?? []) {
        sessions += items.filter(({ type }) => type === 'session').length
      }
      expect(sessions, `${unit}: ${paths.join(' ')}`).toBeGreaterThan(0)
    }
  })
})
