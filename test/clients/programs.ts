/** The real clients as programs: found on PATH or installed from the registry into a folder of their own, and run with nothing of this machine's. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export type ClientName = 'claude-code' | 'codex'
export type Program = { readonly name: ClientName; readonly path: string; readonly version: string }
export type Missing = { readonly name: ClientName; readonly reason: string }

const CLIENTS: readonly { readonly name: ClientName; readonly command: string; readonly pack: string }[] = [
  { name: 'claude-code', command: 'claude', pack: '@anthropic-ai/claude-code' },
  { name: 'codex', command: 'codex', pack: '@openai/codex' },
]

/** A registry that does not answer in this time is not there. */
const INSTALL_MS = 300_000
/** A client that has not ended by then hangs. */
export const CLIENT_MS = 90_000

/** `install` names a folder to install into; without it, what PATH has. */
export function findPrograms(install: string | undefined): readonly (Program | Missing)[] {
  return CLIENTS.map(({ name, command, pack }) => {
    const reason = install === undefined ? undefined : installInto(join(install, name), pack)
    if (reason !== undefined) return { name, reason }
    const path =
      install === undefined ? onPath(command) : join(install, name, 'node_modules', '.bin', command)
    if (path === undefined)
      return { name, reason: `no ${command} on PATH; --install gets it from the registry` }
    const asked = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: CLIENT_MS })
    const version = /\d+\.\d+\.\d+/.exec(asked.stdout ?? '')?.[0]
    if (asked.status === 0 && version !== undefined) return { name, path, version }
    return {
      name,
      reason: `${command} --version failed: ${(asked.stderr || asked.error?.message) ?? asked.status}`,
    }
  })
}

/** The reason why not, if so. */
function installInto(folder: string, pack: string): string | undefined {
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', pack]
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
  return `npm cannot install ${pack}: ${said ?? `it ended with ${asked.status}`}`
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
