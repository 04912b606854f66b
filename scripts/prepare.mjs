// What every script needs first: dependencies and a build, made when they are missing or older than what they come from.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
process.chdir(root)

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `hansard needs Node.js 20.19 or newer; this is ${process.version}. Install one from https://nodejs.org`,
  )
  process.exit(1)
}

/** Runs a program of this project with its output shown; ends this process with its exit code when it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: 'inherit', cwd: root, ...options })
  if (result.error) console.error(`${command}: ${result.error.message}`)
  if (result.status !== 0) process.exit(result.status ?? 1)
  return result
}

/** A tool from node_modules, run with this very Node.js: no shell, no PATH. */
export function tool(name, ...args) {
  return [process.execPath, [join(root, 'node_modules', name), ...args]]
}

export function install() {
  const marker = join(root, 'node_modules', '.package-lock.json')
  const lock = join(root, 'package-lock.json')
  if (existsSync(marker) && statSync(marker).mtimeMs >= statSync(lock).mtimeMs) return
  console.error('installing dependencies …')
  // Not `npm ci`: it refuses a lockfile that lacks binaries of other platforms, and not every registry has them all.
  // `--no-save` installs what the lockfile says and leaves it as it is.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  // Under npm's own Node.js: npm_execpath is set whenever npm started us.
  const npm = process.env.npm_execpath
  if (npm) run(process.execPath, [npm, ...args])
  else run('npm', args, { shell: process.platform === 'win32' })
}

export function build({ force = false } = {}) {
  install()
  const made = join(root, 'dist', 'bin', 'hansard.js')
  const from = [
    'src',
    'test',
    'bench',
    'scripts',
    'package.json',
    'tsconfig.json',
    'vite.config.ts',
    'vite.reader.config.ts',
  ].map((path) => join(root, path))
  if (!force && existsSync(made) && newest(from) <= statSync(made).mtimeMs) return
  console.error('building …')
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  run(...tool('typescript/bin/tsc', '-p', '.'))
  run(process.execPath, [join(root, 'scripts', 'bundle.mjs')])
  run(...tool('vite/bin/vite.js', 'build', '--logLevel', 'warn'))
  run(...tool('vite/bin/vite.js', 'build', '--config', 'vite.reader.config.ts', '--logLevel', 'warn'))
}

function newest(paths) {
  let latest = 0
  for (const path of paths) {
    if (!existsSync(path)) continue
    const stat = statSync(path)
    if (stat.isDirectory())
      latest = Math.max(latest, newest(readdirSync(path).map((name) => join(path, name))))
    else latest = Math.max(latest, stat.mtimeMs)
  }
  return latest
}
