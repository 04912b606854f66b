/** A sync into a file system that is really full, at whatever step it fills up: nothing is lost, and the next one completes it. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { isHansardError } from '../src/errors.ts'
import { few } from './byte-proofs.ts'
import { claudeLog, createMachine, type Machine } from './machine.ts'
import type { Tried } from './system-proofs.ts'

const SESSIONS = 24
/** KB: from too little for the state alone to enough for everything that is kept and not for what is made of it. */
const SIZES = Array.from({ length: 16 }, (_, at) => 128 + at * 128)
const LARGE = 64 * 1024
/** As if there were room: the promise to leave a tenth of the disk free would stop a sync before the disk is full. */
const disk = (): { free: number; total: number } => ({ free: 1e12, total: 1e12 })

export async function proveFullSyncDisk(): Promise<Tried> {
  const name = 'a disk that fills during a sync'
  const whole = createMachine()
  const small = createMachine()
  try {
    for (let n = 0; n < SESSIONS; n += 1) for (const machine of [whole, small]) writeSession(machine, n)
    await whole.sync({ disk })
    const wanted = await listed(whole)
    fs.mkdirSync(small.home)
    const broken: string[] = []
    const counts = { full: 0, listed: 0 }
    for (const size of SIZES) {
      try {
        mount(small.home, size)
      } catch {
        return { name, unavailable: 'a file system may not be mounted here' }
      }
      try {
        const problem = await trySync(small)
        if (problem !== undefined && problem !== 'disk-full')
          broken.push(`${size} KB: not disk-full but ${problem}`)
        if (problem !== undefined) counts.full += 1
        // What is listed while the disk is full is right, as far as it goes.
        const held = await listed(small).catch(() => [])
        counts.listed += held.length
        if (held.some((one) => !wanted.includes(one))) broken.push(`${size} KB: another session is listed`)
        execFileSync('mount', ['-o', `remount,size=${LARGE}k`, small.home], { stdio: 'ignore' })
        await small.sync({ disk })
        const after = await listed(small)
        if (after.join() !== wanted.join())
          broken.push(`${size} KB: ${after.length} sessions with room again`)
      } finally {
        execFileSync('umount', ['-l', small.home], { stdio: 'ignore' })
      }
    }
    return { name, tried: SIZES.length, counts, broken: few(broken) }
  } finally {
    for (const { base } of [whole, small]) fs.rmSync(base, { recursive: true, force: true })
  }
}

function mount(folder: string, size: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}k`, 'tmpfs', folder], { stdio: 'ignore' })
}

function writeSession(machine: Machine, n: number): void {
  const session = `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, '0')}`
  const lines = Array.from({ length: 40 }, (_, at) =>
    claudeLog(at, { session, text: `${at} ${'x'.repeat(600)}` }),
  )
  machine.write(`.claude/projects/-p/${session}.jsonl`, lines.join(''))
}

/** What went wrong; undefined when nothing did. */
async function trySync(machine: Machine): Promise<string | undefined> {
  try {
    const { problems } = await machine.sync({ disk })
    return problems[0]?.cause
  } catch (error) {
    return isHansardError(error) ? error.code : String(error)
  }
}

async function listed(machine: Machine): Promise<readonly string[]> {
  const sessions = await machine.list()
  return sessions.map(({ id, totals }) => JSON.stringify([id, totals])).sort()
}
