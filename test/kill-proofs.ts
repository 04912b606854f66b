/** Promises about a process that dies: killed at any moment, it leaves everything it acknowledged. Real processes, real files. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJournalParser } from '../src/journal/reader.ts'
import { isWriterAlive } from '../src/journal/writer-id.ts'
import { few, type Proof } from './byte-proofs.ts'
import { readFolder } from './journal-samples.ts'

/** The compiled program, also when this runs from source. */
const CHILD = fileURLToPath(new URL('writer-child.js', compiled(import.meta.url)))
const DURABILITIES = ['os', 'group', 'os', 'sync']

function compiled(here: string): string {
  return here.endsWith('.ts') ? new URL('../dist/test/', here).href : here
}

export type Tally = {
  killed: number
  acknowledged: number
  entries: number
  lost: number
  torn: number
  damage: number
}

type Options = {
  readonly kills: number
  readonly parallel?: number
  readonly progress?: (done: number) => void
}

/** Kills writers up to 30 ms after their first word. */
export async function proveKills({ kills, parallel = 3, progress }: Options): Promise<Proof> {
  const root = fs.mkdtempSync(join(tmpdir(), 'hansard-kills-'))
  const tally: Tally = { killed: 0, acknowledged: 0, entries: 0, lost: 0, torn: 0, damage: 0 }
  const broken: string[] = []
  let started = 0
  const slot = async (): Promise<void> => {
    while (started < kills) {
      const n = started
      started += 1
      const folder = join(root, String(n))
      const acknowledged = await killOne(folder, n)
      for (const problem of inspect(folder, acknowledged, tally)) broken.push(`kill ${n}: ${problem}`)
      fs.rmSync(folder, { recursive: true, force: true })
      tally.killed += 1
      progress?.(tally.killed)
    }
  }
  await Promise.all(Array.from({ length: parallel }, slot))
  fs.rmSync(root, { recursive: true, force: true })
  const { killed, ...counts } = tally
  return { name: 'kill -9', tried: killed, counts, broken: few(broken) }
}

function killOne(folder: string, seed: number): Promise<ReadonlySet<number>> {
  const durability = DURABILITIES[seed % DURABILITIES.length] as string
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, folder, durability, 'Infinity', String(seed)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    let timer: NodeJS.Timeout | undefined
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (text: string) => {
      said += text
      timer ??= setTimeout(() => child.kill('SIGKILL'), Math.random() * 30)
    })
    child.on('error', reject)
    child.on('close', (_code, signal) => {
      if (signal === 'SIGKILL') resolve(new Set(numbers(said)))
      else reject(new Error('the writer ended before it was killed'))
    })
  })
}

/** Whole numbers only: the last one may have been on its way. */
export function numbers(said: string): number[] {
  return said
    .slice(0, said.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => /^\d+$/.test(line))
    .map(Number)
}

function inspect(folder: string, acknowledged: ReadonlySet<number>, tally: Tally): readonly string[] {
  const problems: string[] = []
  const found = new Set<number>()
  for (const name of fs.readdirSync(folder)) {
    const parser = createJournalParser(name)
    for (const item of [...parser.push(fs.readFileSync(join(folder, name))), ...parser.end()]) {
      if (!item.ok) {
        if (item.damage.kind === 'torn') tally.torn += 1
        else tally.damage += 1
        if (item.damage.kind !== 'torn') problems.push(`${item.damage.kind}: ${item.damage.reason}`)
      } else if (item.record.t === 'entry') found.add(item.record.entry.sequence)
      else if (item.record.t === 'session' && isWriterAlive(item.record.writer, item.record.boot))
        problems.push('its writer is dead and called alive')
    }
  }
  for (const n of acknowledged) {
    if (found.has(n)) continue
    tally.lost += 1
    problems.push(`entry ${n} was acknowledged and is not there`)
  }
  tally.acknowledged += acknowledged.size
  tally.entries += found.size
  return problems
}

/** Several processes record into one session at once, each its own segment. */
export async function proveWriters(writers: number, entries: number): Promise<Proof> {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-writers-'))
  const runs = Array.from({ length: writers }, (_, n) =>
    runOne([folder, 'group', String(entries), String(n)]),
  )
  const said = await Promise.all(runs)
  const files = new Map(fs.readdirSync(folder).map((name) => [name, fs.readFileSync(join(folder, name))]))
  const { entries: read, damage } = await readFolder(files)
  fs.rmSync(folder, { recursive: true, force: true })
  const broken = said.flatMap((text, n) =>
    text.includes('\ncomplete\n') ? [] : [`writer ${n} did not complete`],
  )
  if (read.length !== writers * entries) broken.push(`${read.length} entries of ${writers * entries}`)
  if (damage.length > 0) broken.push(`${damage.length} damages`)
  const counts = { entries: read.length, damage: damage.length, lost: writers * entries - read.length }
  return { name: 'writers at once', tried: writers, counts, broken }
}

/** What the program says until it ends by itself. */
export function runOne(args: readonly string[], wrapper: readonly string[] = []): Promise<string> {
  const [command, ...before] = wrapper.length === 0 ? [process.execPath] : [...wrapper, process.execPath]
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...before, CHILD, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let said = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (text: string) => {
      said += text
    })
    child.on('error', reject)
    child.on('close', () => resolve(said))
  })
}
