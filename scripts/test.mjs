// `npm test` on a fresh clone: install, build, types, lint, format, and every test. Ends with `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBrowser } from './browser.mjs'
import { build, root, run, tool } from './prepare.mjs'

build()
ensureBrowser()
run(process.execPath, [join(root, 'scripts', 'check.mjs')])

const folder = mkdtempSync(join(tmpdir(), 'hansard-test-'))
const report = join(folder, 'report.json')
const only = process.argv.slice(2)
const [node, args] = tool(
  'vitest/vitest.mjs',
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile=${report}`,
  ...only,
)
const result = spawnSync(node, args, { stdio: 'inherit', cwd: root })

let counts
try {
  counts = JSON.parse(readFileSync(report, 'utf8'))
} catch {
  counts = undefined
}
rmSync(folder, { recursive: true, force: true })
const passed = counts?.numPassedTests ?? 0
// A file that fails to load has no failed test of its own, and is still a failure.
const broken =
  counts?.testResults?.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
    .length ?? 0
const failed = (counts?.numFailedTests ?? 0) + broken || (result.status === 0 ? 0 : 1)
console.log(`\n${passed} passed, ${failed} failed`)
process.exit(result.status === 0 && failed === 0 && passed > 0 ? 0 : 1)
