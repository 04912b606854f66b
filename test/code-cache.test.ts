/** The program's compiled code, kept between runs of the built program. */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BIN } from './program.ts'

let folder: string

beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-code-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const cache = join(folder, 'cache')
  return spawnSync(process.execPath, [BIN, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      HANSARD_HOME: join(folder, 'home'),
      XDG_CACHE_HOME: cache,
      ...env,
    },
  })
}

function cached(): readonly string[] {
  const base = join(folder, 'cache')
  return fs.existsSync(base)
    ? fs
        .readdirSync(base, { recursive: true, encoding: 'utf8' })
        .filter((name) => fs.statSync(join(base, name)).isFile())
    : []
}

/** Changes with every file that is written anew. */
function stamps(): string {
  return cached()
    .map((name) => String(fs.statSync(join(folder, 'cache', name)).mtimeMs))
    .join()
}

describe('the code cache', () => {
  it('is there after the first run, private, and the same answers come with it', () => {
    const first = run(['list', '--json'])
    const names = cached()
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) expect(fs.statSync(join(folder, 'cache', name)).mode & 0o077).toBe(0)
    const second = run(['list', '--json'])
    expect(second.status).toBe(0)
    expect([second.stdout, second.stderr]).toEqual([first.stdout, first.stderr])
  })

  it('learns what a command calls the first times, and is left alone from then on', () => {
    const seen = Array.from({ length: 6 }, () => {
      run(['list'])
      return stamps()
    })
    expect(new Set(seen.slice(0, 3)).size).toBe(3)
    expect(new Set(seen.slice(2)).size).toBe(1)
    run(['stats'])
    expect(stamps()).not.toBe(seen[5])
  })

  it('learns again when a command goes another way', () => {
    const log = join(folder, 'log')
    fs.mkdirSync(log)
    for (let round = 0; round < 4; round += 1) run(['sync', log])
    const known = stamps()
    run(['sync', log])
    expect(stamps()).toBe(known)
    fs.writeFileSync(
      join(log, 'session.jsonl'),
      `${JSON.stringify({
        type: 'user',
        uuid: 'u1',
        parentUuid: null,
        sessionId: 'aaaaaaaa-0000-4000-8000-000000000001',
        cwd: '/home/me',
        version: '2.1.0',
        isSidechain: false,
        timestamp: '2026-02-10T23:31:05.000Z',
        message: { role: 'user', content: 'hello' },
      })}\n`,
    )
    run(['sync', log])
    const before = new Set(known.split(','))
    const again = stamps().split(',')
    // What only the first sync of a new archive takes is left as it was.
    expect(again.filter((stamp) => !before.has(stamp)).length).toBeGreaterThan(again.length / 2)
  })

  it('may hold anything: what V8 does not take is compiled anew', () => {
    const { stdout } = run(['--help'])
    for (const anything of ['not what V8 wrote', 'null', '{"counts":null}', '[]', '']) {
      for (const name of cached()) fs.writeFileSync(join(folder, 'cache', name), anything)
      const again = run(['--help'])
      expect([again.status, again.stdout]).toEqual([0, stdout])
    }
  })

  it('still reads a configuration, for which a package is imported', () => {
    fs.writeFileSync(join(folder, 'hansard.config.json'), '{ "utc": true }')
    for (let round = 0; round < 2; round += 1) expect(run(['list']).status).toBe(0)
    fs.writeFileSync(join(folder, 'hansard.config.json'), '{ "utc": 3 }')
    expect(run(['list']).stderr).toContain('utc')
  })

  it('is done without where it is not wanted or cannot be written', () => {
    expect(run(['--version'], { NODE_DISABLE_COMPILE_CACHE: '1' }).status).toBe(0)
    expect(cached()).toEqual([])
    fs.writeFileSync(join(folder, 'file'), '')
    expect(run(['--version'], { XDG_CACHE_HOME: join(folder, 'file') }).status).toBe(0)
  })
})
