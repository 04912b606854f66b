/**
 * Who writes a segment: `<pid>-<start of the process>-<random>`, and the machine's boot. Enough to tell, later and from
 * outside, a writer that still lives from one that died, even when its process id has been given to another program.
 */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'

const WRITER = /^(\d{1,10})-(\d{1,20}|x)-/

/** Letters of a kernel's process state for "dead, but not yet waited for". */
const DEAD = new Set(['Z', 'X', 'x'])

export function createWriterId(): string {
  ownStart ??= processStart(process.pid) ?? 'x'
  return `${process.pid}-${ownStart}-${randomBytes(4).toString('hex')}`
}

/** It does not change, and a process of many threads takes milliseconds to be looked up. */
let ownStart: string | undefined
let boot: string | undefined

/** The same for all processes until the machine starts again: monotonic times compare only within one. */
export function bootId(): string {
  boot ??= readText('/proc/sys/kernel/random/boot_id')?.trim() ?? estimatedBoot()
  return boot
}

/**
 * True while the process that wrote a segment lives. Where the system does not tell a process's start (outside Linux), a
 * living process of the same number is taken for it. A writer in another container is not seen and counts as dead.
 */
export function isWriterAlive(writer: string, writersBoot: string): boolean {
  const match = WRITER.exec(writer)
  if (match === null || writersBoot !== bootId()) return false
  const [, pid, start] = match
  return start === 'x' ? exists(Number(pid)) : processStart(Number(pid)) === start
}

/** Clock ticks from boot to the process's start; undefined when it does not live, or nothing tells. */
function processStart(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The name in parentheses may hold anything; the fields after it are plain. State is the 3rd of all, start the 22nd.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return DEAD.has(fields[0] ?? 'X') ? undefined : fields[19]
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** To the minute, because the two clocks it is computed from are not read at one instant. */
function estimatedBoot(): string {
  return `${os.hostname()}-${Math.round((Date.now() / 1000 - os.uptime()) / 60)}`
}

function readText(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
