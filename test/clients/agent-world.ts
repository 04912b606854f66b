/** One agent in a home, a folder and an archive of its own, with a provider on loopback that keeps a ledger of what it billed. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { asArray, asObject, asString, parseJson, type JsonObject } from '../../src/transcript/json.ts'
import { COUNTS } from '../../src/transcript/usage.ts'
import { BIN } from '../program.ts'
import type { Agent } from './agents.ts'
import { countsOf, parseLedger } from './ledger.ts'
import type { Plays } from './play.ts'
import { pathWith, runProgram, type Program, type Ran } from './programs.ts'
import { startProvider } from './provider.ts'

export type AgentWorld = {
  /** Where the provider listens. */
  readonly url: string
  /** Calls that the provider billed, each as the tokens it says went in and came out. */
  billed(): readonly string[]
  /** The agent with the play as its task; `under` is what stands before it on the command line. */
  agent(options?: { readonly under?: readonly string[]; readonly url?: string }): Promise<Ran>
  hansard(...args: readonly string[]): Promise<Ran>
  /** Does something while `hansard proxy` stands before the provider. */
  behindProxy(work: (url: string) => Promise<unknown>): Promise<void>
  /** Nobody answers from here on. */
  stopProvider(): Promise<void>
}

export async function createAgentWorld(agent: Agent, program: Program, folder: string): Promise<AgentWorld> {
  const root = mkdtempSync(join(folder, `${agent.name}-`))
  const [home, work, ledger] = [join(root, 'home'), join(root, 'work'), join(root, 'ledger.jsonl')]
  for (const path of [home, work]) mkdirSync(path)
  writeFileSync(ledger, '')
  writeFileSync(join(work, 'notes.txt'), 'one\ntwo\nthree\n')
  execFileSync('git', ['init', '-q', '-b', 'harbour'], { cwd: work })
  const provider = await startProvider({ plays: playOf(agent), ledger })
  const base = {
    PATH: pathWith(program.folders),
    HOME: home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    HANSARD_HOME: join(root, 'archive'),
  }
  const set = (url: string): Record<string, string> => {
    for (const [path, text] of Object.entries(agent.settings?.(url) ?? {})) {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), text)
    }
    return { ...base, ...agent.env?.(url) }
  }
  const world: AgentWorld = {
    url: provider.url,
    billed: () => parseLedger(readFileSync(ledger, 'utf8')).map((row) => inAndOut(countsOf(row))),
    agent({ under = [], url = provider.url } = {}) {
      const env = set(url)
      const before = under.length === 0 ? [] : [process.execPath, BIN, ...under, '--']
      const [path = '', ...args] = [...before, program.path, ...agent.args(PROMPT, home)]
      return runProgram(path, args, { cwd: work, env })
    },
    hansard: (...args) => runProgram(process.execPath, [BIN, ...args], { cwd: work, env: base }),
    async behindProxy(during) {
      const flags = UPSTREAMS.flatMap((name) => ['--upstream', `${name}=${provider.url}`])
      const child = spawn(process.execPath, [BIN, 'proxy', '--json', ...flags], { cwd: work, env: base })
      const ended = new Promise<void>((done) => child.on('close', () => done()))
      try {
        await during(await addressOf(child))
      } finally {
        child.kill('SIGINT')
        await ended
      }
    },
    stopProvider: () => provider.close(),
  }
  return world
}

export const PROMPT = 'Do the work. play:work'
const UPSTREAMS = ['anthropic', 'openai', 'google']

/** A command that succeeds, one that fails, and a last word. */
function playOf(agent: Agent): Plays {
  return {
    work: [
      { say: 'Let me look.', tools: [agent.shell('echo ahoy')] },
      { tools: [agent.shell('exit 3')] },
      { say: 'It fails.' },
    ],
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk)
    const url = asString(asObject(parseJson(text))?.['url'])
    if (url !== undefined) return url
  }
  throw new Error(`hansard proxy ended before it listened: ${text}`)
}

export type Archive = {
  readonly sessions: readonly JsonObject[]
  /** Calls as `billed` puts them. */
  readonly calls: readonly string[]
  /** Of sessions whose source states sums alone, the sums. */
  readonly sums: readonly string[]
}

/** What the archive says of sessions and calls. */
export async function readArchive(world: AgentWorld): Promise<Archive> {
  const document = async (...args: readonly string[]): Promise<JsonObject> =>
    asObject(parseJson((await world.hansard(...args, '--json')).stdout)) ?? {}
  const sessions = (asArray((await document('list'))['sessions']) ?? []).map((one) => asObject(one) ?? {})
  const calls: string[] = []
  const sums: string[] = []
  for (const { id, usage } of sessions) {
    const all = asArray((await document('cost', 'explain', asString(id) ?? ''))['calls']) ?? []
    const counted = all.map((call) => asObject(asObject(call)?.['usage'])).filter((one) => one !== undefined)
    calls.push(...counted.map(inAndOut))
    if (counted.length === 0) sums.push(inAndOut(asObject(usage) ?? {}))
  }
  return { sessions, calls, sums }
}

/** Whether what was cached or reasoned is told apart differs from agent to agent; how much there was in all does not. */
export function inAndOut(counts: Readonly<Partial<Record<string, unknown>>>): string {
  const read = COUNTS.filter((count) => count !== 'output' && count !== 'reasoning')
  const sum = read.reduce((so, count) => so + Number(counts[count] ?? 0), 0)
  return `${sum} in, ${Number(counts['output'] ?? 0)} out`
}
