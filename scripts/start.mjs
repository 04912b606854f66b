// `npm start` on a fresh clone: install, build, and do the main job: take in what the agents on this machine have written, and show it on
// the page. On a machine without agents, the page shows a sample. Nothing is opened: the address is printed.
import { spawn, spawnSync } from 'node:child_process'
import { build, root, run } from './prepare.mjs'

/** Seconds after which a server that nobody asks anything ends, where nobody sits at a terminal to end it. */
const [CI_IDLE, UNWATCHED_IDLE] = [5, 30 * 60]

/** Another build may be named, as for the tests. */
const named = process.env.HANSARD_BIN
if (!named) build()
const hansard = named ?? `${root}/dist/bin/hansard.js`
const rest = process.argv.slice(2)
if (rest.length > 0) run(process.execPath, [hansard, ...rest])
else {
  // What goes wrong with one file is said, and keeps nobody from seeing the others. Words are indexed while the page is there.
  spawnSync(process.execPath, [hansard, 'sync', '--no-index'], { stdio: 'inherit' })
  const listed = spawnSync(process.execPath, [hansard, 'list', '--limit', '1', '--json'], {
    encoding: 'utf8',
  })
  const isWatched = process.stdin.isTTY === true || process.stdout.isTTY === true
  const idle = process.env.CI ? CI_IDLE : isWatched ? undefined : UNWATCHED_IDLE
  const flags = idle === undefined ? [] : ['--idle', String(idle)]
  const isEmpty = !hasSessions(listed.stdout)
  if (isEmpty) console.error('\nNo logs of agents were found on this machine: this is a sample, made up.')
  serve([hansard, isEmpty ? 'demo' : 'serve', ...flags])
}

/** Signals go on to the server, which ends by itself; its exit code is ours. */
function serve(args) {
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code) => process.exit(code ?? 1))
}

function hasSessions(text) {
  try {
    return JSON.parse(text).total > 0
  } catch {
    return false
  }
}
