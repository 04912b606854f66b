// Reads every transcript below a folder and prints what became of each record.
import { build, root, run } from './prepare.mjs'

build()
run(process.execPath, [`${root}/dist/test/corpus.js`, ...process.argv.slice(2)])
