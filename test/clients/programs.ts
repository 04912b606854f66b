/** The real clients as programs: found on PATH or installed from the registry into a folder of their own, and run with nothing of this machine's. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Agent } from './agents.ts'

export type ClientName = 'claude-code' | 'codex'
export type Program<Name extends string = string> = {
  readonly name: Name
  readonly path: string
  readonly version: string
  /** What PATH begins with: a newer Node.js, Bun. */
  readonly folders: readonly string[]
}
export type Missing = { readonly name: string; readonly reason: string }

/** A registry that does not answer in this time is not there. */
const INSTALL_MS = 300_000
/** A client that has not ended by then hangs. */
export const CLIENT_MS = 90_000

/** Some agents want a newer Node.js than Hansard does. */
const NODE = 'node@24'

/** `folder` is where agents are, or are installed; without it, what PATH has. */
export function findPrograms(
  agents: readonly Agent[],
  folder: string | undefined,
): readonly (Program | Missing)[] {
  const reason = folder === undefined ? undefined : installInto(join(folder, 'node'), [NODE])
  if (reason !== undefined) return agents.map(({ name }) => ({ name, reason }))
  return agents.map((agent) => findProgram(agent, folder))
}

function findProgram(
  { name, command, packages, path: inside }: Agent,
  folder: string | undefined,
): Program | Missing {
  const own = folder === undefined ? undefined : join(folder, name)
  const reason = own === undefined ? undefined : installInto(own, packages)
  if (reason !== undefined) return { name, reason }
  const path =
    own === undefined ? onPath(command) : join(own, 'node_modules', inside ?? join('.bin', command))
  if (path === undefined || !existsSync(path))
    return { name, reason: `no ${command} on PATH; --install gets it from the registry` }
  const folders =
    folder === undefined || own === undefined
      ? []
      : [join(folder, 'node', 'node_modules', '.bin'), join(own, 'node_modules', '.bin')]
  const asked = spawnSync(path, ['--version'], {
    encoding: 'utf8',
    timeout: CLIENT_MS,
    env: { ...process.env, PATH: pathWith(folders) },
  })
  const version = /\d+\.\d+\.\d+/.exec(asked.stdout ?? '')?.[0]
  if (asked.status === 0 && version !== undefined) return { name, path, version, folders }
  return {
    name,
    reason: `${command} --version failed: ${(asked.stderr || asked.error?.message) ?? asked.status}`,
  }
}

export function pathWith(folders: readonly string[]): string {
  return [...folders, process.env['PATH'] ?? ''].join(delimiter)
}

/** The reason why not, if so. */
function installInto(folder: string, packages: readonly string[]): string | undefined {
  if (existsSync(join(folder, 'node_modules'))) return undefined
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', ...packages]
  // Under npm's own Node.js: npm_execpath is set whenever npm started us.
  const npm = process.env['npm_execpath']
  const [command, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const asked = spawnSync(command, [...first, ...args], {
    encoding: 'utf8',
    cwd: folder,
    timeout: INSTALL_MS,
  })
  if (asked.status === 0) return undefined
  const said = asked.error?.message ?? /^npm error (?!code|errno|syscall).+/m.exec(asked.stderr)?.[0]
  return `npm cannot install ${packages.join(' ')}: ${said ?? `it ended with ${asked.status}`}`
}

function onPath(command: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find((path) => existsSync(path))
}

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type RunOptions = {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Sends SIGKILL a moment after this is true. */
  readonly killWhen?: () => boolean
}

/** For what the client was sent to be on its disk. */
const MOMENT_MS = 2000

export function runProgram(
  path: string,
  args: readonly string[],
  { cwd, env, killWhen }: RunOptions,
): Promise<Ran> {
  const child = spawn(path, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  // The whole group: a client is a script that starts its program.
  const kill = (): unknown => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL')
  let timer = setTimeout(kill, CLIENT_MS)
  const looking = setInterval(() => {
    if (killWhen?.() !== true) return
    clearInterval(looking)
    clearTimeout(timer)
    timer = setTimeout(kill, MOMENT_MS)
  }, 100)
  return new Promise((done, failed) => {
    child.on('error', failed)
    child.on('close', (code) => {
      clearInterval(looking)
      clearTimeout(timer)
      done({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() })
    })
  })
}
