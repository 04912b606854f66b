// Makes the table of formats in docs/formats/README.md from the code.
import { build, root, run } from './prepare.mjs'

build()
run(process.execPath, [`${root}/dist/test/format-table.js`, '--write'])
