// Longer proofs: every-byte truncation, every bit flip, fail-the-Nth loops, 10,000 kill -9. Prints a table of counts.
import { build, root, run } from './prepare.mjs'

build()
run(process.execPath, [`${root}/dist/test/proof.js`, ...process.argv.slice(2)])
