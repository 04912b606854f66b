/** `hansard formats`, run as a user runs it: what there is, and what of it is here. */
import fs from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { formats } from '../src/formats/index.ts'
import { run, temporaryFolder } from './program.ts'

const home = fs.realpathSync(temporaryFolder())
const sessions = join(home, 'moved/sessions')

type Listed = {
  readonly id: string
  readonly read: boolean
  readonly write: boolean
  readonly live: boolean
  readonly places: readonly string[]
  readonly found: readonly string[]
}

describe('hansard formats', () => {
  beforeAll(() => {
    fs.mkdirSync(sessions, { recursive: true })
    fs.mkdirSync(join(home, '.gemini/tmp'), { recursive: true })
  })
  const env = { HOME: home, CODEX_HOME: join(home, 'moved') }

  it('says of each what it can, where its files may lie, and where they do', async () => {
    const { stdout, code } = await run(['formats', '--json'], { cwd: home, env })
    expect(code).toBe(0)
    const listed = (JSON.parse(stdout) as { formats: readonly Listed[] }).formats
    expect(listed.map(({ id }) => id)).toEqual(['journal', ...formats.map(({ id }) => id)])
    const named = (id: string): Listed | undefined => listed.find((format) => format.id === id)
    expect(named('codex')).toMatchObject({
      read: true,
      write: true,
      live: false,
      places: [
        '${CODEX_HOME:-~/.codex}/sessions',
        '${CODEX_HOME:-~/.codex}/archived_sessions',
        '${CODEX_HOME:-~/.codex}',
      ],
      found: [sessions],
    })
    expect(named('gemini-cli')).toMatchObject({ write: false, found: [join(home, '.gemini/tmp')] })
    expect(named('pi')?.found).toEqual([])
    expect(listed.filter(({ live }) => live).map(({ id }) => id)).toEqual([
      'devflow',
      'weakincentives',
      'leslie',
      'entire',
      'swarm',
    ])
  })

  it('says it in a table', async () => {
    const { stdout } = await run(['formats'], { cwd: home, env })
    expect(stdout).toMatch(new RegExp(`^codex +read, written +${sessions} +Codex`, 'm'))
    expect(stdout).toMatch(/^devflow +read, written, live/m)
  })
})
