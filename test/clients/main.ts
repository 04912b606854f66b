/**
 * `npm run clients [-- --install] [--only TEXT] [--write] [--programs DIR] [--provider SCRIPT] [--keep]`: against a provider on loopback that
 * keeps a ledger, the real Claude Code and Codex through many scenarios, then every agent that runs offline in every way to record it.
 * Exits 1 when one token differs, no agent is there, or one could not be installed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tryAgent, type Row } from './agent-ways.ts'
import { isRight, linesOf, writeTable } from './agents-table.ts'
import { AGENTS } from './agents.ts'
import { claudeScenarios } from './claude-scenarios.ts'
import { codexScenarios } from './codex-scenarios.ts'
import { hookedScenarios } from './hooked-scenarios.ts'
import { findPrograms, type Program } from './programs.ts'
import { recordedScenarios } from './recorded-scenarios.ts'
import { resumedScenarios } from './resumed-scenarios.ts'
import { play, type Outcome, type Scenario } from './scenario.ts'
import { startScript } from './script-provider.ts'
import { heading, toLines } from './table.ts'

const SCENARIOS: readonly Scenario[] = [
  ...claudeScenarios,
  ...codexScenarios,
  ...resumedScenarios,
  ...hookedScenarios,
  ...recordedScenarios,
]

const values = readOptions()
const folder = mkdtempSync(join(tmpdir(), 'hansard-clients-'))
process.exitCode = (await main()) ? 0 : 1
if (values.keep) console.log(`\nkept: ${folder}`)
else rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

/** Whether all is equal. */
async function main(): Promise<boolean> {
  const scenarios = SCENARIOS.filter(({ client, name }) => isAsked(`${client}: ${name}`))
  const agents = values.provider === '' ? AGENTS.filter(({ name }) => isAsked(`${name}: in every way`)) : []
  const wanted = AGENTS.filter(
    (agent) => agents.includes(agent) || scenarios.some(({ client }) => client === agent.name),
  )
  const programs: Program[] = []
  for (const one of findPrograms(wanted, programsFolder())) {
    if ('reason' in one) console.log(`${one.name}: not tried, ${one.reason}`)
    else programs.push(one)
  }
  if (programs.length === 0) return false
  console.log(programs.map(({ name, version }) => `${name} ${version}`).join(', '))
  const outcomes = await playAll(scenarios, programs)
  const rows: Row[] = []
  for (const agent of agents) {
    const program = programs.find(({ name }) => name === agent.name)
    if (program === undefined) continue
    const row = await tryAgent(agent, program, folder)
    rows.push(row)
    console.log(linesOf(row).join('\n'))
  }
  if (values.write) writeTable(rows)
  const isLacking = programsFolder() !== undefined && programs.length < wanted.length
  return outcomes.every(isEqual) && rows.every(isRight) && outcomes.length + rows.length > 0 && !isLacking
}

async function playAll(
  scenarios: readonly Scenario[],
  programs: readonly Program[],
): Promise<readonly Outcome[]> {
  if (scenarios.length === 0) return []
  if (values.provider !== '')
    console.log(`${values.provider} answers as it likes: only counts are compared, no play takes place`)
  console.log(heading)
  const provide =
    values.provider === '' ? undefined : (ledger: string) => startScript(values.provider, ledger)
  const outcomes: Outcome[] = []
  for (const scenario of scenarios) {
    const program = programs.find(({ name }) => name === scenario.client)
    if (program === undefined) continue
    const outcome = await play(scenario, { program, folder, ...(provide && { provide }) })
    outcomes.push(outcome)
    console.log(toLines(outcome).join('\n'))
  }
  const drift = new Set(outcomes.flatMap((one) => one.drift))
  if (drift.size > 0) console.log(`\nnot seen before:\n${[...drift].sort().join('\n')}`)
  const wrong = outcomes.filter((one) => !isEqual(one))
  console.log(
    wrong.length === 0
      ? `\n${outcomes.length} scenarios, every token equal`
      : `\n${wrong.length} of ${outcomes.length} scenarios differ`,
  )
  return outcomes
}

function isEqual({ differences, problems }: Outcome): boolean {
  return differences.length + problems.length === 0
}

function isAsked(title: string): boolean {
  return title.includes(values.only)
}

function programsFolder(): string | undefined {
  if (values.programs !== '') return values.programs
  return values.install ? join(folder, 'installed') : undefined
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        install: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
        programs: { type: 'string', default: '' },
        provider: { type: 'string', default: process.env['HANSARD_CLIENTS_PROVIDER'] ?? '' },
      },
    }).values
  } catch {
    console.error(
      'usage: npm run clients -- [--install] [--only TEXT] [--write] [--programs DIR] [--provider SCRIPT] [--keep]',
    )
    process.exit(2)
  }
}
