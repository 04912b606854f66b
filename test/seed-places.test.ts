/** What the seeds' writers put below a working directory is found where their formats say, and read together as it belongs together. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { record } from '../src/capture/record.ts'
import { playDemo } from '../src/cli/demo/recorded-story.ts'
import type { Format } from '../src/formats/format.ts'
import { formats } from '../src/formats/index.ts'
import { parseGlobs } from '../src/sources/globs.ts'
import { filesBelow } from './coverage.ts'

const SEEDS = ['devflow', 'weakincentives', 'leslie', 'entire', 'swarm']
const SESSIONS = 2
let folder: string
let home: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hansard-places-'))
  home = mkdtempSync(join(tmpdir(), 'hansard-places-'))
  for (let n = 0; n < SESSIONS; n += 1) {
    const session = await record({
      home,
      cwd: folder,
      formats: SEEDS,
      runId: `run-${n}`,
      flow: 'fix',
      step: 'look',
      thread: `thread-${n}`,
    })
    playDemo(session)
    await session.end()
  }
})

/** Paths relative to the place, of the files that it names. */
function found(format: Format): string[] {
  return (format.places ?? []).flatMap(({ folders, files }) =>
    folders.flatMap((place) => {
      const globs = parseGlobs(files)
      return filesBelow(folder)
        .map((path) => relative(join(folder, place), path))
        .filter((path) => !path.startsWith('..') && globs.matches(path))
    }),
  )
}

describe.each(SEEDS)('%s', (id) => {
  const format = formats.find((one) => one.id === id) as Format

  it('has all of its files in its places', () => {
    const root = format.write?.root ?? ''
    const written = filesBelow(join(folder, root)).filter(
      (path) => !/(?:\.gitignore|index\.json)$/.test(path),
    )
    expect(found(format).length).toBe(written.length)
    expect(written.length).toBeGreaterThanOrEqual(SESSIONS)
  })

  it('has a unit for each session', async () => {
    const units = new Set<string>()
    for (const path of found(format)) {
      const file = { path, sizeBytes: 0, modifiedAt: '', head: none, bytes: none, chunks: nothing }
      units.add((await format.unit?.(file)) ?? path)
    }
    expect(units.size).toBe(SESSIONS)
  })
})

const none = async (): Promise<Buffer> => Buffer.alloc(0)
async function* nothing(): AsyncGenerator<Buffer> {}
