/**
 * `hansard hook <agent>`, as agents call it: takes their input, notes what is to be synced, sees to it that somebody does, and is
 * gone. It says nothing, never fails, and never waits for the sync. It runs for every turn of an agent, so it loads almost nothing.
 */
import { spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { noteFailure } from './failures.ts'
import { addTicket, claimWork, passWork, releaseWork, type Ticket } from './queue.ts'

/** An input over this is no hook's. */
const MAX_INPUT_BYTES = 1024 * 1024
/** How long an agent may take to say what it has to. */
const DEADLINE_MS = 1000
/** What is longer is no path and no id. */
const MAX_TEXT = 4096

/** By the agents whose settings can be made to call us; the only names that are taken here. */
export const HOOK_AGENTS = ['claude-code', 'codex', 'gemini-cli', 'copilot-cli', 'cursor'] as const
export type HookAgent = (typeof HOOK_AGENTS)[number]

const MOVED_BY = ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME', 'COPILOT_HOME'] as const

export const isHookAgent = (name: string | undefined): name is HookAgent =>
  HOOK_AGENTS.some((agent) => agent === name)

/** `args`: what follows the agent's name. Ends the process, with 0. */
export function takeHook(agent: HookAgent, args: readonly string[]): void {
  const home = homeOf(args)
  const done = (text: string | undefined, problem?: string): void => {
    try {
      const input = text === undefined ? undefined : parse(text)
      const why = problem ?? (input === undefined ? 'the input is no JSON object' : undefined)
      if (input === undefined || why !== undefined) noteFailure(home, agent, why ?? '')
      else trigger(home, toTicket(agent, input))
    } catch (error) {
      noteFailure(home, agent, error instanceof Error ? error.message : String(error))
    }
    process.exit(0)
  }
  // Codex gives its notice as the last argument.
  const last = args.at(-1) ?? ''
  if (last.startsWith('{')) return done(last.length > MAX_INPUT_BYTES ? '' : last)
  if (process.stdin.isTTY) {
    process.stderr.write('hansard: this is what agents call; hansard hook install sets it up\n')
    return process.exit(0)
  }
  readInput(done)
}

function homeOf(args: readonly string[]): string {
  const at = args.indexOf('--home')
  const joined = args.find((arg) => arg.startsWith('--home='))?.slice('--home='.length)
  const given = joined ?? (at === -1 ? process.env['HANSARD_HOME'] : args[at + 1])
  return given ? resolve(given) : join(homedir(), '.hansard')
}

function readInput(done: (text: string | undefined, problem?: string) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const text = (): string => Buffer.concat(chunks).toString('utf8')
  setTimeout(() => done(undefined, 'the input did not end within a second'), DEADLINE_MS)
  process.stdin.on('error', () => done(text()))
  process.stdin.on('end', () => done(text()))
  process.stdin.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_INPUT_BYTES) return done(undefined, `the input is over ${MAX_INPUT_BYTES} bytes`)
    chunks.push(chunk)
    // An agent that holds its end open has still said everything.
    if (chunk.at(-1) === 0x7d || chunk.at(-1) === 0x0a) {
      const whole = text()
      if (parse(whole) !== undefined) done(whole)
    }
  })
}

type Input = { readonly [key: string]: unknown }

function parse(text: string): Input | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Input) : undefined
  } catch {
    return undefined
  }
}

/** Each agent has its own spelling. */
function toTicket(agent: HookAgent, input: Input): Ticket {
  const first = (...names: readonly string[]): string | undefined => {
    for (const name of names) {
      const value = Object.hasOwn(input, name) ? input[name] : undefined
      if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT) return value
    }
    return undefined
  }
  const session = first('session_id', 'sessionId', 'conversation_id', 'thread-id', 'thread_id')
  const transcript = first('transcript_path', 'transcriptPath')
  const agentTranscript = first('agent_transcript_path', 'agentTranscriptPath')
  const env = Object.fromEntries(
    MOVED_BY.flatMap((name) => {
      const value = process.env[name]
      return value ? [[name, value]] : []
    }),
  )
  return {
    agent,
    ...(session !== undefined && { session }),
    ...(transcript !== undefined && { transcript }),
    ...(agentTranscript !== undefined && { agentTranscript }),
    ...(Object.keys(env).length > 0 && { env }),
  }
}

/** One process at a time does the work; while one is at it, it will find what is asked for here. */
function trigger(home: string, ticket: Ticket): void {
  addTicket(home, ticket)
  if (!claimWork(home)) return
  // Not where the agent works: no settings are taken from a folder that anybody may have made.
  const child = spawn(process.execPath, [process.argv[1] ?? '', 'hook', 'work', '--home', home], {
    cwd: home,
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  })
  child.on('error', () => {})
  child.unref()
  if (child.pid !== undefined) return passWork(home, child.pid)
  releaseWork(home)
  throw new Error('no process could be started to sync')
}
