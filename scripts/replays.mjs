// The real Claude Code and Codex, recorded against a provider on loopback, then answered from the recording alone.
import { build, root, run } from './prepare.mjs'

build()
const env = { ...process.env, HANSARD_BIN: `${root}/dist/bin/hansard.js` }
run(process.execPath, [`${root}/dist/test/clients/replays.js`, ...process.argv.slice(2)], { env })
