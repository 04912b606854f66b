/**
 * The same conversations under `hansard run`, with the client's hooks put in and its logs synced: three ways to one session. Behind the
 * proxy the client behaves as without it, and everything that was billed is in the list, also what no log has.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { claudeScenarios } from './claude-scenarios.ts'
import { codexScenarios } from './codex-scenarios.ts'
import { hookedScenarios, install, synced } from './hooked-scenarios.ts'
import type { Scenario, World } from './scenario.ts'

/** A client that is killed is not the one that we are told to kill: that is `hansard run`. */
const played = [...claudeScenarios, ...codexScenarios].filter(({ name }) => !name.includes('killed'))

export const recordedScenarios: readonly Scenario[] = [
  ...played.map((scenario): Scenario => ({
    ...scenario,
    name: `run: ${scenario.name}`,
    isRecorded: true,
    run: (world) => scenario.run(underRun(world)),
  })),
  ...played
    .filter(({ name }) => /^(?:tools|continued|resumed|a subagent|subagents)/.test(name))
    .map((scenario): Scenario => ({
      ...scenario,
      name: `run and hooked: ${scenario.name}`,
      isRecorded: true,
      async run(world) {
        await install(world, scenario.client)
        await scenario.run(underRun(world))
        await synced(world)
      },
    })),
  ...hookedScenarios
    .filter(({ name }) => name === 'hooked, and printed')
    .map((scenario): Scenario => ({
      ...scenario,
      name: `run, ${scenario.name}`,
      isRecorded: true,
      run: (world) =>
        scenario.run({ ...world, printed: (args, from) => world.recordedAndPrinted(args, from) }),
    })),
  ...played
    .filter(({ name }) => name.startsWith('tools'))
    .map((scenario): Scenario => ({
      ...scenario,
      name: 'run, in other formats as it goes',
      isRecorded: true,
      async run(world) {
        const flags = FORMATS.flatMap(({ format }) => ['--format', format])
        await scenario.run({ ...world, client: (args, options) => world.recorded(args, flags, options) })
        for (const one of FORMATS) await isWritten(world, one, scenario.toolCalls)
      },
    })),
]

/** Where each puts its files, under the working directory. */
const FORMATS = [
  { format: 'entire', folder: '.entire/metadata' },
  { format: 'devflow', folder: '.devflow/runs' },
]

type Written = { readonly entries: readonly { readonly blocks: readonly { readonly type: string }[] }[] }

/** What a format's files hold is what was said and done. */
async function isWritten(world: World, { format, folder }: (typeof FORMATS)[number], toolCalls: number) {
  const root = join(world.work, folder)
  const all = existsSync(root) ? readdirSync(root, { withFileTypes: true }) : []
  const runs = all.filter((one) => one.isDirectory()).map(({ name }) => name)
  const [only] = runs
  if (only === undefined || runs.length > 1) throw new Error(`${runs.length} sessions in ${folder}`)
  const { stdout, stderr } = await world.hansard(['show', join(root, only), '--as', 'json'])
  const { entries } = JSON.parse(stdout === '' ? '{"entries":[]}' : stdout) as Written
  const called = entries.flatMap(({ blocks }) => blocks).filter(({ type }) => type === 'tool-call').length
  if (called !== toolCalls || !stdout.includes('Done.'))
    throw new Error(`${format} has ${called} tool calls, not ${toolCalls}: ${stderr}`)
}

function underRun(world: World): World {
  return { ...world, client: (args, options) => world.recorded(args, [], options) }
}
