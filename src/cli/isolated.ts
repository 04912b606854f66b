/**
 * A command of ours again, in a network namespace that has nothing but its own loopback: what a program asks of anybody but us finds
 * no way out. Where the machine cannot, that is said, and the caller goes on without.
 */
import { spawn, spawnSync } from 'node:child_process'
import { note } from './print.ts'

/** Set inside, so that it is done once. */
const INSIDE = 'HANSARD_ISOLATED'

/** True when it ran there, and its exit code is ours. */
export async function runIsolated(command: readonly string[]): Promise<boolean> {
  if (process.env[INSIDE] !== undefined) return false
  const own = ['-n', '-rn'].find((flag) => spawnSync('unshare', [flag, 'sh', '-c', UP]).status === 0)
  if (own === undefined || command.length === 0) {
    note(
      command.length === 0
        ? 'hansard: --isolate is for a program that is run: nobody could ask from outside'
        : 'hansard: this machine has no network namespaces for us (unshare -n): the program could reach the network',
    )
    return false
  }
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const child = spawn('unshare', [own, 'sh', '-c', `${UP} && exec "$@"`, 'sh', ...again], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: '1' },
  })
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, forward)
  process.exitCode = await new Promise<number>((resolve) => {
    child.on('error', () => resolve(1))
    child.on('close', (code) => resolve(code ?? 1))
  })
  return true
}

const UP = '(ip link set lo up || ifconfig lo up) 2>/dev/null'
