/** How long `hansard --help` takes, and a hook that an agent waits for, against Node.js that does nothing. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { atMost, compare } from './measure.ts'

export const bench: Bench = async ({ quick }) => {
  const bin = join(import.meta.dirname, '../bin/hansard.js')
  const home = mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  const input = JSON.stringify({ session_id: 'none', transcript_path: '/none', hook_event_name: 'Stop' })
  const env = { ...process.env, HANSARD_HOME: home }
  const times = await compare(
    {
      node: () => void spawnSync(process.execPath, ['-e', '0']),
      help: () => void spawnSync(process.execPath, [bin, '--help']),
      hook: () => void spawnSync(process.execPath, [bin, 'hook', 'claude-code'], { input, env }),
      // What the hook has started runs beside it, and is not what an agent waits for.
      rest: () => new Promise((done) => setTimeout(done, 500)),
    },
    quick ? 11 : 31,
  )
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  const { node = Number.NaN, help = Number.NaN, hook = Number.NaN } = times
  return [
    atMost(
      'hansard hook claude-code',
      hook / node,
      1.6,
      `${hook.toFixed(0)} ms against ${node.toFixed(0)} ms of node -e 0`,
    ),
    atMost(
      'hansard --help',
      help / node,
      1.7,
      `${help.toFixed(0)} ms against ${node.toFixed(0)} ms of node -e 0`,
    ),
  ]
}
