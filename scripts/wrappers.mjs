// The real SDKs with Hansard's wrappers around them, against a provider on loopback: what is recorded equals what was billed.
import { build, root, run } from './prepare.mjs'

build()
run(process.execPath, [`${root}/dist/test/wrappers/main.js`, ...process.argv.slice(2)])
