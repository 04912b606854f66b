// Hot paths against their bare alternative in one run, as ratios.
import { findBrowser } from './browser.mjs'
import { build, root, run } from './prepare.mjs'

build()
const browser = findBrowser()
const env = { ...process.env, ...(browser !== undefined && { CHROME_PATH: browser }) }
run(process.execPath, ['--expose-gc', `${root}/dist/bench/bench.js`, ...process.argv.slice(2)], { env })
