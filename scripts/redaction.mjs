// What the redactor finds of a corpus of invented secrets, by kind and by form; with folders, what it takes out of their files.
import { build, root, run } from './prepare.mjs'

build()
run(process.execPath, [`${root}/dist/test/redaction/main.js`, ...process.argv.slice(2)])
