/**
 * `npm run replays [-- --install] [--open] [--runs N] [--only TEXT] [--provider SCRIPT]`: the real Claude Code and Codex, recorded against a provider
 * on loopback, then run again with that provider stopped: in another home and another folder, in a network namespace without routes
 * where the machine allows it (`--open`: not there). What they print, and what they ask, must be as recorded, and they must connect to
 * nobody else; one changed word, tool, argument or order must be reported at its entry. Exits 1 when anything else comes out.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
import { AGENTS } from './agents.ts'
import { MUTATIONS, mutate } from './mutations.ts'
import { findPrograms, runProgram, type Program, type Ran } from './programs.ts'
import { startProvider } from './provider.ts'
import { CASES, type Case } from './replay-cases.ts'
import { startScript } from './script-provider.ts'
import { canWatch, freePort, socketsIn, watched } from './sockets.ts'

const values = readOptions()
const canSee = canWatch()
const folder = mkdtempSync(join(tmpdir(), 'hansard-replays-'))
process.exitCode = (await main()) ? 0 : 1
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

async function main(): Promise<boolean> {
  const programs: Program[] = []
  for (const one of findPrograms(
    AGENTS.slice(0, 2),
    values.install ? join(folder, 'installed') : undefined,
  )) {
    if ('reason' in one) console.log(`${one.name}: not tried, ${one.reason}`)
    else programs.push(one)
  }
  const isIsolated =
    !values.open &&
    (spawnSync('unshare', ['-n', 'true']).status === 0 || spawnSync('unshare', ['-rn', 'true']).status === 0)
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
      const { lines, problems } = await tryCase(one, program, isIsolated ? ['--isolate'] : [])
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
  isolate: readonly string[],
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

  const verify = async (name: string, prompt: string, archive = 'archive'): Promise<Verified> => {
    const port = await freePort()
    const sockets = join(root, `${name}.sockets`)
    const command = ['replay', run, '--verify', '--json', '--port', String(port), ...isolate, '--']
    const place = { archive, ...(canSee && { sockets }) }
    const ran = await runIn(root, name, 'http://127.0.0.1:9', command, program, [...one.args, prompt], place)
    return { ...ran, verdict: lastDocument(ran), others: canSee ? socketsIn(sockets, port) : [] }
  }
  const counts = { exact: 0, normalised: 0 }
  const others = new Set<string>()
  let executed = ''
  for (let n = 1; n <= values.runs; n += 1) {
    const again = await verify(`replayed-${n}`, one.prompt)
    const { verdict } = again
    const calls = asObject(verdict?.['calls'])
    counts.exact += asNumber(calls?.['exact']) ?? 0
    counts.normalised += asNumber(calls?.['normalised']) ?? 0
    executed = JSON.stringify(verdict?.['executed'])
    for (const socket of again.others) others.add(socket)
    if (again.stdout !== recorded.stdout) problems.push(`run ${n} printed something else`)
    if (verdict?.['isSame'] !== true || again.code !== 0)
      problems.push(
        `run ${n} ended with ${again.code}: ${JSON.stringify(verdict?.['first'] ?? again.stderr.slice(-500))}`,
      )
  }
  if (others.size > 0) problems.push(`sockets that are not ours: ${[...others].join(', ')}`)

  const told: string[] = []
  const expectAt = (what: string, { verdict }: Verified, right: readonly string[]): void => {
    const first = asObject(verdict?.['first'])
    const cited = asString(first?.['citation']) ?? ''
    const entry = shown(cited, join(root, 'archive'))
    if (
      verdict?.['isSame'] === false &&
      first?.['drift'] === 'request' &&
      right.some((text) => entry.includes(text))
    )
      told.push(`another ${what}: ${asString(first['where'])}, at ${cited.slice(cited.indexOf('#'))}`)
    else problems.push(`another ${what}: ${JSON.stringify(first ?? verdict)}, at ${entry.slice(0, 300)}`)
  }
  expectAt('word', await verify('changed', one.otherPrompt), [one.prompt])
  for (const mutation of MUTATIONS) {
    const copy = `archive-with-another-${mutation.replaceAll(' ', '-')}`
    cpSync(join(root, 'archive'), join(root, copy), { recursive: true })
    const right = mutate(join(root, copy), mutation)
    if (right === undefined) told.push(`another ${mutation}: nothing to change`)
    else expectAt(mutation, await verify(copy.slice('archive-'.length), one.prompt, copy), right)
  }
  const seen = canSee ? 'no socket but ours' : 'sockets not watched: no strace'
  return {
    lines: [
      `${sessions.length} sessions, ${billed} calls of the provider; ${values.runs} runs: ${counts.exact} exact, ${counts.normalised} normalised; tools that ran: ${executed}; ${others.size === 0 ? seen : 'other sockets'}`,
      ...told,
    ],
    problems,
  }
}

type Verified = Ran & { readonly verdict: JsonObject | undefined; readonly others: readonly string[] }

function shown(citation: string, home: string): string {
  const args = ['show', citation, '--context', '0', '--as', 'json', '--home', home]
  return spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8' }).stdout
}

/** The client under one of our commands, in a home and a folder of its own. */
function runIn(
  root: string,
  name: string,
  url: string,
  command: readonly string[],
  program: Program,
  args: readonly string[],
  { archive = 'archive', sockets }: { readonly archive?: string; readonly sockets?: string } = {},
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
    HANSARD_HOME: join(root, archive),
  }
  const whole = [process.execPath, BIN, ...command, program.path, ...args]
  const [path = '', ...rest] = sockets === undefined ? whole : watched(sockets, whole)
  return runProgram(path, rest, { cwd: work, env })
}

/** Codex asks GitHub and ChatGPT for its plugins, and tells ChatGPT how it went, unless it is told not to. */
function codexSettings(url: string): string {
  return `model = "gpt-5.1-codex"
model_provider = "loopback"
[features]
plugins = false
[analytics]
enabled = false
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
        open: { type: 'boolean', default: false },
        runs: { type: 'string', default: '20' },
        only: { type: 'string', default: '' },
        provider: { type: 'string', default: process.env['HANSARD_CLIENTS_PROVIDER'] ?? '' },
      },
    })
    return { ...said, runs: Number(said.runs) }
  } catch {
    console.error(
      'usage: npm run replays -- [--install] [--open] [--runs N] [--only TEXT] [--provider SCRIPT]',
    )
    process.exit(2)
  }
}
