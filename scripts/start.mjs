// `npm start` on a fresh clone: install, build, and do the main job: take in what the agents on this machine have written, and show
// it. On a machine without agents, a small session is recorded live instead.
import { spawnSync } from 'node:child_process'
import { build, root, run } from './prepare.mjs'

build()
const hansard = `${root}/dist/bin/hansard.js`
const rest = process.argv.slice(2)
if (rest.length > 0) run(process.execPath, [hansard, ...rest])
else {
  // What goes wrong with one file is said, and keeps nobody from seeing the others.
  spawnSync(process.execPath, [hansard, 'sync'], { stdio: 'inherit' })
  const listed = spawnSync(process.execPath, [hansard, 'list', '--limit', '1', '--json'], { encoding: 'utf8' })
  if (hasSessions(listed.stdout)) {
    run(process.execPath, [hansard, 'list', '--limit', '20'])
    console.error('\nLook at one:  node dist/bin/hansard.js show <the beginning of its id>')
  } else run(process.execPath, [hansard, 'demo'])
}

function hasSessions(text) {
  try {
    return JSON.parse(text).total > 0
  } catch {
    return false
  }
}
