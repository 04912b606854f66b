/** The same promises with the real kernel: system calls failed by strace, and a file system that is really full. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openJournal } from '../src/journal/writer.ts'
import type { Proof } from './byte-proofs.ts'
import { first, readFolder, sampleEntry } from './journal-samples.ts'
import { numbers, runOne } from './kill-proofs.ts'

/** A proof, or why it could not be tried here. */
export type Tried = Proof | { readonly name: string; readonly unavailable: string }

const COUNT = 60

type Injection = {
  readonly name: string
  readonly inject: string
  /** Every call of the process, not only those on the first segment. */
  readonly everywhere?: boolean
  /** Everything is there at the end, and the program knows. Else only what it acknowledged must be. */
  readonly complete: boolean
  /** All is written all the same, though it cannot be called safe. */
  readonly written?: boolean
  readonly durability?: string
}

/** strace counts the calls of each thread apart: with `sync` they are all the main thread's. */
const INJECTIONS: readonly Injection[] = [
  { name: 'write fails once with ENOSPC', inject: 'write:error=ENOSPC:when=7', complete: true },
  { name: 'write fails six times with ENOSPC', inject: 'write:error=ENOSPC:when=7..12', complete: true },
  { name: 'write fails once with EIO', inject: 'write:error=EIO:when=9', complete: true },
  { name: 'write says 3 bytes and writes none', inject: 'write:retval=3:when=5', complete: true },
  { name: 'first fdatasync fails with EIO', inject: 'fdatasync:error=EIO:when=1', complete: true },
  {
    name: '20th fdatasync fails with EIO',
    inject: 'fdatasync:error=EIO:when=20',
    durability: 'sync',
    complete: true,
  },
  {
    name: 'every fdatasync fails with EIO',
    inject: 'fdatasync:error=EIO',
    everywhere: true,
    complete: false,
    written: true,
  },
  { name: 'killed inside a write', inject: 'write:signal=KILL:when=11', complete: false },
]

export async function proveInjections(): Promise<readonly Tried[]> {
  const strace = findStrace()
  if (strace === undefined) return [{ name: 'strace', unavailable: 'strace is not here or may not trace' }]
  const proofs: Tried[] = []
  for (const injection of INJECTIONS) proofs.push(await inject(strace, injection))
  return proofs
}

async function inject(strace: string, injection: Injection): Promise<Proof> {
  const { name, inject, everywhere, complete, written = complete, durability = 'group' } = injection
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-inject-'))
  const [call = ''] = inject.split(':')
  const path = everywhere === true ? [] : ['-P', join(folder, 'journal-w.jsonl')]
  const wrapper = [
    strace,
    '-f',
    '-qq',
    '-o',
    '/dev/null',
    ...path,
    '-e',
    `trace=${call}`,
    '-e',
    `inject=${inject}`,
  ]
  const said = await runOne([folder, durability, String(COUNT), '1', 'w'], wrapper)
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : []
  const files = new Map(names.map((file) => [file, fs.readFileSync(join(folder, file))]))
  const { entries, damage } = await readFolder(files)
  fs.rmSync(folder, { recursive: true, force: true })
  const found = new Set(entries.map(({ sequence }) => sequence))
  const acknowledged = numbers(said)
  const lost = acknowledged.filter((n) => !found.has(n)).length
  const broken: string[] = []
  if (lost > 0) broken.push(`${lost} acknowledged entries are not there`)
  if (found.size !== entries.length) broken.push('an entry is there twice')
  if (written && found.size !== COUNT) broken.push(`${found.size} entries of ${COUNT}`)
  if (complete && !said.includes('\ncomplete\n')) broken.push('the program did not say it is complete')
  const counts = {
    acknowledged: acknowledged.length,
    entries: found.size,
    lost,
    segments: names.length,
    damage: damage.length,
  }
  return { name, tried: 1, counts, broken }
}

function findStrace(): string | undefined {
  try {
    execFileSync('strace', ['-f', '-qq', '-o', '/dev/null', 'true'], { stdio: 'ignore' })
    return 'strace'
  } catch {
    return undefined
  }
}

/** A file system of 64 KB: full, then with room again. */
export async function proveFullDisk(): Promise<Tried> {
  const name = 'a full file system of 64 KB'
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-full-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    fs.rmSync(folder, { recursive: true, force: true })
    return { name, unavailable: 'a file system may not be mounted here' }
  }
  try {
    return await fillUp(name, folder)
  } finally {
    execFileSync('umount', [folder], { stdio: 'ignore' })
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function fillUp(name: string, folder: string): Promise<Proof> {
  const ballast = join(folder, 'ballast')
  fs.writeFileSync(ballast, Buffer.alloc(32 * 1024))
  const reports: string[] = []
  const session = join(folder, 'session')
  const journal = openJournal({ folder: session, first, onFailure: ({ kind }) => void reports.push(kind) })
  let n = 0
  while (journal.append({ t: 'entry', entry: sampleEntry(n, 'x'.repeat(1500)) })) n += 1
  const acknowledged = n
  for (n += 1; n < acknowledged + 4; n += 1)
    journal.append({ t: 'entry', entry: sampleEntry(n, 'x'.repeat(1500)) })
  const whileFull = await journal.flush()
  fs.unlinkSync(ballast)
  const after = await journal.close()
  const names = fs.readdirSync(session)
  const files = new Map(names.map((file) => [file, fs.readFileSync(join(session, file))]))
  const { entries, damage } = await readFolder(files)
  const broken: string[] = []
  if (whileFull) broken.push('a flush said it is done while the disk was full')
  if (!after) broken.push('recording did not go on when there was room again')
  if (entries.length !== n) broken.push(`${entries.length} entries of ${n}`)
  if (damage.length > 0) broken.push(`${damage.length} damages`)
  if (reports.join() !== 'failing,resumed') broken.push(`reports: ${reports.join()}`)
  const counts = { acknowledged, entries: entries.length, lost: n - entries.length, damage: damage.length }
  return { name, tried: 1, counts, broken }
}
