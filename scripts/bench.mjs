// Hot paths against their bare alternative in one run, as ratios.
import { build, root, run } from './prepare.mjs'

build()
run(process.execPath, ['--expose-gc', `${root}/dist/bench/bench.js`, ...process.argv.slice(2)])
