/** How long `hansard --help` takes, against Node.js that does nothing. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { atMost, compare } from './measure.ts'

export const bench: Bench = async ({ quick }) => {
  const bin = join(import.meta.dirname, '../bin/hansard.js')
  const times = await compare(
    {
      node: () => void spawnSync(process.execPath, ['-e', '0']),
      help: () => void spawnSync(process.execPath, [bin, '--help']),
    },
    quick ? 11 : 31,
  )
  const { node = Number.NaN, help = Number.NaN } = times
  return [
    atMost(
      'hansard --help',
      help / node,
      1.7,
      `${help.toFixed(0)} ms against ${node.toFixed(0)} ms of node -e 0`,
    ),
  ]
}
