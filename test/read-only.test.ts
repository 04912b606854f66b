/** An archive that may only be read: on a mounted backup, or somebody else's. */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BIN, run } from './program.ts'

const NOBODY = 65_534

it('is listed and shown all the same, with or without what is derived from it', async () => {
  const base = fs.mkdtempSync(join(os.tmpdir(), 'read-only-'))
  fs.chmodSync(base, 0o755)
  const home = join(base, 'archive')
  await run(['record', '--home', home], { input: '{"role":"user","text":"hello there"}\n' })
  const before = JSON.parse((await run(['list', '--home', home, '--json'])).stdout)
  const [{ id }] = before.sessions

  close(home)
  const listed = asNobody(['list', '--home', home, '--json'])
  expect(JSON.parse(listed.stdout)).toEqual(before)
  const shown = asNobody(['show', id, '--home', home])
  expect(shown.status).toBe(0)
  expect(shown.stdout).toContain('hello there')

  fs.chmodSync(home, 0o700)
  fs.chmodSync(join(home, 'index'), 0o700)
  fs.rmSync(join(home, 'index'), { recursive: true })
  fs.chmodSync(home, 0o500)
  const again = JSON.parse(asNobody(['list', '--home', home, '--json']).stdout)
  expect(again.sessions.map((session: { id: string }) => session.id)).toEqual([id])
})

/** Nobody may write: not even root, who runs the program as somebody else. */
function close(path: string): void {
  const stat = fs.lstatSync(path)
  if (stat.isDirectory()) for (const name of fs.readdirSync(path)) close(join(path, name))
  if (process.geteuid?.() === 0) fs.chownSync(path, NOBODY, NOBODY)
  fs.chmodSync(path, stat.isDirectory() ? 0o500 : 0o400)
}

function asNobody(args: readonly string[]) {
  const isRoot = process.geteuid?.() === 0
  return spawnSync(process.execPath, [BIN, ...args], {
    encoding: 'utf8',
    env: { ...process.env, HOME: os.tmpdir() },
    cwd: os.tmpdir(),
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  })
}
