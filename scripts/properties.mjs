// `npm run properties [-- ROUNDS [PATH …]]`: every property on values it has not seen, ROUNDS times (10). Stops at the first round that
// fails and says its seed: `HANSARD_SEED=n npm test PATH` has it again.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, root, tool } from './prepare.mjs'

build()
const [rounds = '10', ...paths] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(rounds)) {
  console.error('usage: npm run properties -- [ROUNDS [PATH …]]')
  process.exit(2)
}
const files = (paths.length > 0 ? paths : ['src', 'test']).flatMap((path) =>
  path.endsWith('.ts') ? [path] : withProperties(path),
)
for (let round = 1; round <= Number(rounds); round += 1) {
  const seed = String(randomInt(2 ** 31))
  console.log(`round ${round} of ${rounds}: HANSARD_SEED=${seed}, ${files.length} files`)
  const [node, args] = tool('vitest/vitest.mjs', 'run', '--reporter=dot', ...files)
  const { status } = spawnSync(node, args, {
    stdio: 'inherit',
    cwd: root,
    env: { ...process.env, HANSARD_SEED: seed },
  })
  if (status !== 0) {
    console.log(`failed with HANSARD_SEED=${seed}`)
    process.exit(1)
  }
}

/** Files of tests below a folder that have properties, by their import, or that try more where there is a seed. */
function withProperties(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .filter((path) => /from 'fast-check'|HANSARD_SEED/.test(readFileSync(join(root, path), 'utf8')))
}
