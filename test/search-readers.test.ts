/** Several processes that read at once while others take in and index: the built program, as people and agents run it. */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { run, type Ran } from './program.ts'
import { createSearched, line, writeLog } from './searched-archive.ts'

const SESSIONS = 60
const TEXTS = 40
const ROUNDS = 4
/** That a sync is at it is said, and is no problem: what was taken in before is all there. */
const PROBLEM = /Error|SQLITE|damage|locked|unexpected|could not/i

it('readers beside a process that indexes get whole answers, and no errors', async () => {
  const { archive, config } = createSearched('search-readers')
  const home = archive.home
  const folder = dirname(home)
  const env = { HOME: folder, CLAUDE_CONFIG_DIR: config, HANSARD_HOME: home }
  const hansard = (...args: string[]): Promise<Ran> => run(args, { cwd: folder, env })
  const paths = Array.from({ length: SESSIONS }, (_, n) =>
    writeLog(
      config,
      n,
      Array.from({ length: TEXTS }, (_, at) => `common needle${n} ${at} ${'to index '.repeat(40)}`),
    ),
  )
  // The list is there, and nothing is indexed yet.
  expect((await hansard('sync', '--no-index')).code).toBe(0)
  const cost = (await hansard('cost', '--json')).stdout

  const errors: string[] = []
  const counts: number[] = []
  const read = async (): Promise<void> => {
    const asked = [
      ['search', '--json', '--limit', '500', 'needle7'],
      ['search', '--json', '--newest', 'common'],
      ['list', '--json'],
      ['cost', '--json'],
    ]
    for (const args of asked) {
      const { code, stdout, stderr } = await hansard(...args)
      if (code !== 0 || PROBLEM.test(stderr))
        errors.push(`${args.join(' ')}: ${code} ${stderr}${stdout.slice(-600)}`)
      const answer = JSON.parse(stdout) as { hits?: unknown[]; total?: unknown; isPartial?: boolean }
      if (args.includes('needle7')) counts.push(answer.hits?.length ?? -1)
      if (args[0] === 'list' && answer.total !== SESSIONS) errors.push(`list of ${String(answer.total)}`)
      if (args[0] === 'cost' && stdout !== cost) errors.push('other costs')
    }
  }
  const write = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { code, stderr } = await hansard('sync')
      if (code !== 0 || PROBLEM.test(stderr)) errors.push(`sync: ${code} ${stderr}`)
      // What changes is indexed anew; the session that is counted stays as it is.
      for (const n of [1, 2, 3]) {
        const id = `${n.toString(16).padStart(8, '0')}-3333-4333-8333-333333333333`
        const at = TEXTS + round
        const more = {
          ...line(id, n, at, `grown ${round}`),
          type: 'user',
          message: { role: 'user', content: 'x' },
        }
        fs.appendFileSync(paths[n] ?? '', `${JSON.stringify(more)}\n`)
      }
    }
  }
  await Promise.all([write(), ...Array.from({ length: 3 }, async () => (await read(), read()))])
  expect(errors).toEqual([])
  expect(counts).toEqual(counts.map(() => TEXTS))
  expect(fs.existsSync(join(home, 'index', 'search-0.db'))).toBe(true)
})
