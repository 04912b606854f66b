/**
 * `npm run clients [-- --install] [--only TEXT] [--provider SCRIPT] [--keep]`: the real Claude Code and Codex against a provider on
 * loopback, and what Hansard reads from their logs against what was billed. Exits 1 when one token differs, no client is there,
 * or one could not be installed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { claudeScenarios } from './claude-scenarios.ts'
import { codexScenarios } from './codex-scenarios.ts'
import { hookedScenarios } from './hooked-scenarios.ts'
import { findPrograms, type Program } from './programs.ts'
import { recordedScenarios } from './recorded-scenarios.ts'
import { resumedScenarios } from './resumed-scenarios.ts'
import { play, type Outcome } from './scenario.ts'
import { startScript } from './script-provider.ts'
import { heading, toLines } from './table.ts'

const values = readOptions()
const folder = mkdtempSync(join(tmpdir(), 'hansard-clients-'))
process.exitCode = (await main()) ? 0 : 1
if (values.keep) console.log(`\nkept: ${folder}`)
else rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

/** Whether all is equal. */
async function main(): Promise<boolean> {
  const programs: Program[] = []
  const found = findPrograms(values.install ? join(folder, 'installed') : undefined)
  for (const one of found) {
    if ('reason' in one) console.log(`${one.name}: not tried, ${one.reason}`)
    else programs.push(one)
  }
  if (programs.length === 0) return false
  console.log(programs.map(({ name, version }) => `${name} ${version}`).join(', '))
  if (values.provider !== '')
    console.log(`${values.provider} answers as it likes: only counts are compared, no play takes place`)
  console.log(heading)
  const outcomes: Outcome[] = []
  for (const program of programs) {
    const all = [
      ...claudeScenarios,
      ...codexScenarios,
      ...resumedScenarios,
      ...hookedScenarios,
      ...recordedScenarios,
    ].filter(({ client }) => client === program.name)
    for (const scenario of all.filter(({ name }) => `${program.name}: ${name}`.includes(values.only))) {
      const provide =
        values.provider === '' ? undefined : (ledger: string) => startScript(values.provider, ledger)
      const outcome = await play(scenario, { program, folder, ...(provide && { provide }) })
      outcomes.push(outcome)
      console.log(toLines(outcome).join('\n'))
    }
  }
  const drift = new Set(outcomes.flatMap((one) => one.drift))
  if (drift.size > 0) console.log(`\nnot seen before:\n${[...drift].sort().join('\n')}`)
  const wrong = outcomes.filter(({ differences, problems }) => differences.length + problems.length > 0)
  console.log(
    wrong.length === 0
      ? `\n${outcomes.length} scenarios, every token equal`
      : `\n${wrong.length} of ${outcomes.length} scenarios differ`,
  )
  const isLacking = values.install && programs.length < found.length
  return wrong.length === 0 && outcomes.length > 0 && !isLacking
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        install: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
        provider: { type: 'string', default: process.env['HANSARD_CLIENTS_PROVIDER'] ?? '' },
      },
    }).values
  } catch {
    console.error('usage: npm run clients -- [--install] [--only TEXT] [--provider SCRIPT] [--keep]')
    process.exit(2)
  }
}
