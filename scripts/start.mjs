// `npm start` on a fresh clone: install, build, and do the main job.
import { build, root, run } from './prepare.mjs'

build()
run(process.execPath, [`${root}/dist/bin/hansard.js`, 'demo', ...process.argv.slice(2)])
