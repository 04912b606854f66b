/**
 * A scenario: plays for the provider, and a client that is run through them in a home, a repository and an archive of its own.
 * What its logs come to is then compared with the ledger.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../src/transcript/json.ts'
import { asArray, asObject, asString, parseJson } from '../../src/transcript/json.ts'
import { BIN } from '../program.ts'
import { compare, parseLedger, type Comparison } from './ledger.ts'
import type { Plays } from './play.ts'
import { runProgram, type ClientName, type Program, type Ran, type RunOptions } from './programs.ts'
import { startProvider, type Provider } from './provider.ts'

export type Scenario = {
  readonly name: string
  readonly client: ClientName
  readonly plays: Plays
  /** Calls that the provider must have billed: a scenario that did not come to pass proves nothing. */
  readonly calls: number
  /** Sessions and tool calls that the list must show. */
  readonly sessions: number
  readonly toolCalls: number
  /** Everything that was billed is in the list, also what the client does not log. */
  readonly isRecorded?: boolean
  run(world: World): Promise<void>
}

export type ClientOptions = {
  /** Sends SIGKILL while this call is answered, counted from 1. */
  readonly killAtCall?: number
  readonly env?: Readonly<Record<string, string>>
}

export type World = {
  readonly home: string
  readonly work: string
  client(args: readonly string[], options?: ClientOptions): Promise<Ran>
  /** The client, and what it prints piped into `hansard record --from`. */
  printed(args: readonly string[], from: string): Promise<Ran>
  /** The client under `hansard run`. */
  recorded(args: readonly string[], flags?: readonly string[], options?: ClientOptions): Promise<Ran>
  recordedAndPrinted(args: readonly string[], from: string): Promise<Ran>
  hansard(args: readonly string[]): Promise<Ran>
}

export type Outcome = Comparison & {
  readonly scenario: Scenario
  /** What else is not as it should be. */
  readonly problems: readonly string[]
  readonly drift: readonly string[]
}

export type Setting = {
  readonly program: Program
  /** Where each scenario gets a folder. */
  readonly folder: string
  /** Starts a provider that appends to this ledger. */
  readonly provide?: (ledger: string) => Promise<Provider>
}

export async function play(scenario: Scenario, { program, folder, provide }: Setting): Promise<Outcome> {
  const root = mkdtempSync(join(folder, 'scenario-'))
  const ledger = join(root, LEDGER)
  writeFileSync(ledger, '')
  const provider = await (provide?.(ledger) ?? startProvider({ plays: scenario.plays, ledger }))
  try {
    const world = createWorld(root, program, provider.url)
    await scenario.run(world)
    return await judge(scenario, world, { ledger, isPlayed: provide === undefined })
  } finally {
    await provider.close()
  }
}

type Judged = {
  readonly ledger: string
  /** Our own provider answered: what the plays say came to pass. */
  readonly isPlayed: boolean
}

async function judge(scenario: Scenario, world: World, { ledger, isPlayed }: Judged): Promise<Outcome> {
  const synced = await world.hansard(['sync', '--json'])
  const problems = synced.code === 0 ? [] : [`sync ended with ${synced.code}: ${synced.stderr.trim()}`]
  const listed = asObject(parseJson((await world.hansard(['list', '--json'])).stdout))
  const sessions = (asArray(listed?.['sessions']) ?? []).map((one) => asObject(one) ?? {})
  const health = asObject(parseJson((await world.hansard(['doctor', '--json'])).stdout))
  const logs = readLogs(world.home)
  const isNamed = (id: string): boolean =>
    scenario.isRecorded === true || logs.some((text) => text.includes(`"${id}"`))
  const comparison = compare(parseLedger(readFileSync(ledger, 'utf8')), isNamed, sessions)
  return {
    ...comparison,
    scenario,
    problems: [
      ...problems,
      ...(isPlayed ? lookAt(sessions, scenario, world, comparison.billed) : []),
      ...damageIn(health),
    ],
    drift: (asArray(health?.['drift']) ?? []).map((one) => driftName(asObject(one) ?? {})),
  }
}

function lookAt(
  sessions: readonly JsonObject[],
  { calls: due, sessions: expected, toolCalls, client }: Scenario,
  { work }: World,
  billed: number,
): readonly string[] {
  const calls = sessions.reduce((sum, { toolCalls: count }) => sum + Number(count ?? 0), 0)
  return [
    ...(billed === due ? [] : [`${billed} calls billed, not ${due}`]),
    ...(sessions.length === expected ? [] : [`${sessions.length} sessions, not ${expected}`]),
    ...(calls === toolCalls ? [] : [`${calls} tool calls, not ${toolCalls}`]),
    ...sessions
      .filter(({ agent }) => agent !== client)
      .map(({ agent }) => `a session of ${asString(agent) ?? 'nobody'}`),
    ...sessions
      .filter(({ cwd }) => cwd !== work)
      .map(({ cwd }) => `a session in ${asString(cwd) ?? 'nowhere'}`),
  ]
}

function damageIn(health: JsonObject | undefined): readonly string[] {
  const files = [...(asArray(health?.['damaged']) ?? []), ...(asArray(health?.['unreadable']) ?? [])]
  return files.map((one) => `damaged or unreadable: ${asString(asObject(one)?.['file']) ?? ''}`)
}

function driftName({ format, kind, name, version }: JsonObject): string {
  return [format, version, kind, name].map((word) => asString(word) ?? '').join(' ')
}

/** The text of every log below a home. */
function readLogs(home: string): readonly string[] {
  const roots = [join(home, '.claude', 'projects'), join(home, '.codex', 'sessions')].filter((path) =>
    existsSync(path),
  )
  return roots.flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.jsonl'))
      .map((path) => readFileSync(join(root, path), 'utf8')),
  )
}

const LEDGER = 'ledger.jsonl'

function createWorld(root: string, program: Program, url: string): World {
  const [home, work] = [join(root, 'home'), join(root, 'work')]
  for (const path of [home, work, join(home, '.codex')]) mkdirSync(path)
  writeFileSync(join(home, '.codex', 'config.toml'), codexSettings(url))
  writeFileSync(join(work, 'notes.txt'), 'one\ntwo\nthree\n')
  execFileSync('git', ['init', '-q', '-b', 'harbour'], { cwd: work })
  const base = { PATH: process.env['PATH'] ?? '', HOME: home, TZ: 'UTC' }
  const env = {
    ...base,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-ant-none',
    OPENAI_API_KEY: 'sk-none',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Lets Claude Code skip permissions for root, which containers are.
    IS_SANDBOX: '1',
  }
  const billed = (): number => parseLedger(readFileSync(join(root, LEDGER), 'utf8')).length
  const killing = ({ killAtCall }: ClientOptions): Pick<RunOptions, 'killWhen'> =>
    killAtCall === undefined ? {} : { killWhen: () => billed() >= killAtCall }
  const piped = (command: readonly string[], from: string): Promise<Ran> =>
    runProgram('sh', ['-c', PIPED, ...command], {
      cwd: work,
      env: { ...env, NODE: process.execPath, BIN, FROM: from, HANSARD_HOME: join(root, 'archive') },
    })
  return {
    home,
    work,
    client: (args, options = {}) =>
      runProgram(program.path, args, { cwd: work, ...killing(options), env: { ...env, ...options.env } }),
    printed: (args, from) => piped([program.path, ...args], from),
    recordedAndPrinted: (args, from) =>
      piped([process.execPath, BIN, 'run', '--quiet', '--', program.path, ...args], from),
    recorded: (args, flags = [], options = {}) =>
      runProgram(process.execPath, [BIN, 'run', '--quiet', ...flags, '--', program.path, ...args], {
        cwd: work,
        ...killing(options),
        env: { ...env, HANSARD_HOME: join(root, 'archive'), ...options.env },
      }),
    hansard: (args) =>
      runProgram(process.execPath, [BIN, ...args], {
        cwd: work,
        env: { ...base, HANSARD_HOME: join(root, 'archive') },
      }),
  }
}

const PIPED = '"$0" "$@" | "$NODE" "$BIN" record --from "$FROM"'

/** The key's value is nobody's; the name of the variable that holds it is what Codex asks for. */
function codexSettings(url: string): string {
  return `model = "gpt-5.1-codex"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 4
stream_max_retries = 4
`
}
