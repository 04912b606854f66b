/**
 * `npm run replays [-- --install] [--runs N] [--only TEXT] [--provider SCRIPT]`: the real Claude Code and Codex, recorded against a provider
 * on loopback, then run again with that provider stopped: in another home and another folder, in a network namespace without routes
 * where the machine allows it. What they print, and what they ask, must be as recorded; one changed word must be reported at its
 * entry. Exits 1 when anything else comes out.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  parseJson,
  type JsonObject,
} from '../../src/transcript/json.ts'
import { BIN } from '../program.ts'
import type { Plays } from './play.ts'
import { findPrograms, runProgram, type ClientName, type Program, type Ran } from './programs.ts'
import { startProvider } from './provider.ts'
import { startScript } from './script-provider.ts'

type Case = {
  readonly name: string
  readonly client: ClientName
  readonly plays: Plays
  /** Without the prompt, which is last. */
  readonly args: readonly string[]
  readonly prompt: string
  /** The same with one word changed. */
  readonly otherPrompt: string
}

const CLAUDE = ['--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5', '-p']
const CODEX = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'a word' } })
const shell = (cmd: string) => ({ tool: 'exec_command', input: { cmd } })

const CASES: readonly Case[] = [
  {
    name: 'tools one after the other and side by side',
    client: 'claude-code',
    args: CLAUDE,
    prompt: 'Look at the notes. play:tools',
    otherPrompt: 'Look at the books. play:tools',
    plays: {
      tools: [
        { say: 'Let me look.', tools: [bash('ls'), bash('cat notes.txt')] },
        { tools: [bash('wc -l notes.txt')] },
        { say: 'Three lines.' },
      ],
    },
  },
  {
    name: 'a subagent, an error before an answer',
    client: 'claude-code',
    args: CLAUDE,
    prompt: 'Send somebody. play:errand',
    otherPrompt: 'Send everybody. play:errand',
    plays: {
      errand: [
        {
          say: 'I send one.',
          tools: [
            {
              tool: 'Agent',
              input: {
                description: 'an errand',
                prompt: 'Count. play:count',
                subagent_type: 'general-purpose',
              },
            },
          ],
        },
        { say: 'It is done.', fault: { times: 1, how: 529 } },
      ],
      count: [{ tools: [bash('wc -l notes.txt')] }, { say: 'Three.' }],
    },
  },
  {
    name: 'tools one after the other and side by side',
    client: 'codex',
    args: CODEX,
    prompt: 'Look at the notes. play:tools',
    otherPrompt: 'Look at the books. play:tools',
    plays: {
      tools: [
        { say: 'Let me look.', tools: [shell('ls'), shell('cat notes.txt')] },
        { tools: [shell('wc -l notes.txt')] },
        { say: 'Three lines.' },
      ],
    },
  },
]

const values = readOptions()
const folder = mkdtempSync(join(tmpdir(), 'hansard-replays-'))
process.exitCode = (await main()) ? 0 : 1
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

async function main(): Promise<boolean> {
  const programs: Program[] = []
  for (const one of findPrograms(values.install ? join(folder, 'installed') : undefined)) {
    if ('reason' in one) console.log(`${one.name}: not tried, ${one.reason}`)
    else programs.push(one)
  }
  const isIsolated =
    spawnSync('unshare', ['-n', 'true']).status === 0 || spawnSync('unshare', ['-rn', 'true']).status === 0
  console.log(programs.map(({ name, version }) => `${name} ${version}`).join(', '))
  console.log(
    isIsolated
      ? 'replayed in a network namespace without routes'
      : 'this machine has no network namespaces for us',
  )
  let tried = 0
  let wrong = 0
  for (const program of programs)
    for (const one of CASES.filter(
      ({ client, name }) => client === program.name && `${client}: ${name}`.includes(values.only),
    )) {
      const { lines, problems } = await tryCase(one, program, isIsolated)
      tried += 1
      console.log(
        [
          `${one.client}: ${one.name}`,
          ...lines.map((line) => `  ${line}`),
          ...problems.map((line) => `  WRONG ${line}`),
        ].join('\n'),
      )
      if (problems.length > 0) wrong += 1
    }
  console.log(
    wrong === 0 && tried > 0
      ? `\n${tried} cases, every run as recorded`
      : `\n${wrong} of ${tried} cases differ`,
  )
  return wrong === 0 && tried > 0
}

async function tryCase(
  one: Case,
  program: Program,
  isIsolated: boolean,
): Promise<{ readonly lines: readonly string[]; readonly problems: readonly string[] }> {
  const root = mkdtempSync(join(folder, 'case-'))
  const problems: string[] = []
  const ledger = join(root, 'ledger.jsonl')
  writeFileSync(ledger, '')
  const provider =
    values.provider === ''
      ? await startProvider({ plays: one.plays, ledger })
      : await startScript(values.provider, ledger)
  const recorded = await runIn(root, 'recorded', provider.url, ['run', '--json', '--'], program, [
    ...one.args,
    one.prompt,
  ])
  await provider.close()
  const sessions = asArray(lastDocument(recorded)?.['sessions']) ?? []
  const run = runOf(join(root, 'archive'))
  if (recorded.code !== 0 || sessions.length === 0)
    return { lines: [], problems: [`recording ended with ${recorded.code}: ${recorded.stderr.slice(-500)}`] }
  const billed = readFileSync(ledger, 'utf8').trim().split('\n').length

  const isolate = isIsolated ? ['--isolate'] : []
  const verify = (name: string, prompt: string): Promise<Ran> =>
    runIn(
      root,
      name,
      'http://127.0.0.1:9',
      ['replay', run, '--verify', '--json', ...isolate, '--'],
      program,
      [...one.args, prompt],
    )
  const counts = { exact: 0, normalised: 0 }
  let executed = ''
  for (let n = 1; n <= values.runs; n += 1) {
    const again = await verify(`replayed-${n}`, one.prompt)
    const verdict = lastDocument(again)
    const calls = asObject(verdict?.['calls'])
    counts.exact += asNumber(calls?.['exact']) ?? 0
    counts.normalised += asNumber(calls?.['normalised']) ?? 0
    executed = JSON.stringify(verdict?.['executed'])
    if (again.stdout !== recorded.stdout) problems.push(`run ${n} printed something else`)
    if (verdict?.['isSame'] !== true || again.code !== 0)
      problems.push(
        `run ${n} ended with ${again.code}: ${JSON.stringify(verdict?.['first'] ?? again.stderr.slice(-500))}`,
      )
  }
  const changed = lastDocument(await verify('changed', one.otherPrompt))
  const first = asObject(changed?.['first'])
  const cited = asString(first?.['citation']) ?? ''
  const entry = spawnSync(
    process.execPath,
    [BIN, 'show', cited, '--context', '0', '--as', 'json', '--home', join(root, 'archive')],
    { encoding: 'utf8' },
  )
  const isAtEntry = entry.stdout.includes(one.prompt) && !entry.stdout.includes(one.otherPrompt)
  if (changed?.['isSame'] !== false || first?.['drift'] !== 'request' || !isAtEntry)
    problems.push(`a changed word: ${JSON.stringify(first ?? changed)}, at ${entry.stdout.slice(0, 300)}`)
  return {
    lines: [
      `${sessions.length} sessions, ${billed} calls of the provider; ${values.runs} runs: ${counts.exact} exact, ${counts.normalised} normalised; tools that ran: ${executed}`,
      `a changed word is request drift at ${cited.slice(cited.indexOf('#'))}`,
    ],
    problems,
  }
}

/** The client under one of our commands, in a home and a folder of its own. */
function runIn(
  root: string,
  name: string,
  url: string,
  command: readonly string[],
  program: Program,
  args: readonly string[],
): Promise<Ran> {
  const [home, work] = [join(root, name, 'home'), join(root, name, 'work')]
  for (const path of [join(home, '.codex'), work]) mkdirSync(path, { recursive: true })
  writeFileSync(join(work, 'notes.txt'), 'one\ntwo\nthree\n')
  writeFileSync(join(home, '.codex', 'config.toml'), codexSettings(url))
  execFileSync('git', ['init', '-q', '-b', 'harbour'], { cwd: work })
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TZ: 'UTC',
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-ant-none',
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'sk-none',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Lets Claude Code skip permissions for root, which containers are.
    IS_SANDBOX: '1',
    HANSARD_HOME: join(root, 'archive'),
  }
  return runProgram(process.execPath, [BIN, ...command, program.path, ...args], { cwd: work, env })
}

function codexSettings(url: string): string {
  return `model = "gpt-5.1-codex"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
`
}

/** Of what it says on standard error, the line that is a document. */
function lastDocument({ stderr }: Ran): JsonObject | undefined {
  return asObject(
    parseJson(
      stderr
        .trim()
        .split('\n')
        .findLast((line) => line.startsWith('{')) ?? '',
    ),
  )
}

function runOf(archive: string): string {
  const [id = ''] = readdirSync(join(archive, 'sessions'))
  const names = readdirSync(join(archive, 'sessions', id))
  const journal = readFileSync(
    join(archive, 'sessions', id, names.find((one) => one.startsWith('journal')) ?? ''),
    'utf8',
  )
  return (
    asString(
      asObject(asObject(asObject(parseJson(journal.split('\n', 1)[0] ?? ''))?.['session'])?.['run'])?.['id'],
    ) ?? id
  )
}

function readOptions() {
  try {
    const { values: said } = parseArgs({
      options: {
        install: { type: 'boolean', default: false },
        runs: { type: 'string', default: '20' },
        only: { type: 'string', default: '' },
        provider: { type: 'string', default: process.env['HANSARD_CLIENTS_PROVIDER'] ?? '' },
      },
    })
    return { ...said, runs: Number(said.runs) }
  } catch {
    console.error('usage: npm run replays -- [--install] [--runs N] [--only TEXT] [--provider SCRIPT]')
    process.exit(2)
  }
}
