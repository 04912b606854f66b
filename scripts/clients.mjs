// The real Claude Code and Codex against a provider on loopback: what Hansard reads from their logs equals what was billed.
import { build, root, run } from './prepare.mjs'

build()
const env = { ...process.env, HANSARD_BIN: `${root}/dist/bin/hansard.js` }
run(process.execPath, [`${root}/dist/test/clients/main.js`, ...process.argv.slice(2)], { env })
