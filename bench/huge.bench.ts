/**
 * `npm run bench -- huge`: what no machine should have to sync, and how much memory it takes. One log of 10 GB, a million files, a line
 * of 1 GB, documents of 2 GB that are whole or damaged, archives of very many files (`many-files.ts`), what only the hostile or unlucky
 * have (`hostile-files.ts`), bombs, a database of 1 GB. Takes hours and 25 GB of disk; `--quick` a hundredth of both,
 * `HANSARD_HUGE_PART=20` a twentieth. Names behind `huge` choose: `-- huge line documents`. `HANSARD_HUGE_INDEX=no` leaves out the
 * indexes, which take as long again.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { SyncReport } from '../src/sources/sync.ts'
import type { Bench } from './bench.ts'
import { sessionId } from './claude-logs.ts'
import {
  claudeRecord,
  DOCUMENTS,
  writeDocument,
  writeGzip,
  writePieces,
  writeZip,
  writeZstdBomb,
} from './huge-files.ts'
import { HOSTILE } from './hostile-files.ts'
import { MANY } from './many-files.ts'
import { atMost, type Result } from './measure.ts'
import { writeDatabase } from './opencode-sample.ts'
import { TELL_PEAK, toldPeak } from './peak-memory.ts'

const BIN = join(import.meta.dirname, '../bin/hansard.js')
const MOST_MB = 300
const MOST_INDEX_MB = 400

/** What one case wants of the program: the arguments, and what its report has to say. */
export type Case = {
  readonly args: readonly string[]
  readonly expect: (report: SyncReport) => boolean
  /** What it reads from standard input. */
  readonly stdin?: string
  /** It need not say anything: only what it takes is of interest. */
  readonly mayFail?: boolean
  /** What is asked of the archive then: what it takes is of interest, and that it does not fail. */
  readonly asked?: readonly (readonly string[])[]
  /** Changes the files, for a second time. */
  readonly again?: () => Case | Promise<Case>
}
export type Make = (folder: string, size: (full: number) => number) => Promise<Case> | Case

export const bench: Bench = async ({ quick, chosen = [] }) => {
  const results: Result[] = []
  const part = Number(process.env['HANSARD_HUGE_PART'] ?? (quick ? 100 : 1))
  for (const [name, make] of Object.entries(CASES)) {
    if (chosen.length > 0 && !chosen.some((one) => name.startsWith(one))) continue
    const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-huge-'))
    try {
      fs.mkdirSync(join(folder, 'work'))
      const wanted = await make(folder, (full) => Math.ceil(full / part))
      const [command = '', ...paths] = wanted.args
      const isSync = command === 'sync'
      const say = (result: Result): void => {
        console.error(
          `${result.ok ? 'ok  ' : 'OVER'} ${result.ratio.toFixed(0)} MB  ${result.name}  ${result.detail}`,
        )
        results.push(result)
      }
      const args = isSync ? [command, '--no-index', ...paths] : wanted.args
      say(measure(name, folder, { ...wanted, args }))
      if (wanted.again !== undefined)
        say(measure(`${name}: again`, folder, { ...(await wanted.again()), args }))
      for (const asked of wanted.asked ?? []) say(ask(`${name}: ${asked.join(' ')}`, folder, asked))
      // Apart, for they follow each other: the larger of both is what a sync takes.
      if (isSync && process.env['HANSARD_HUGE_INDEX'] !== 'no')
        say(measure(`${name}: its index`, folder, { args: wanted.args, expect: () => true }, MOST_INDEX_MB))
    } finally {
      fs.rmSync(folder, { recursive: true, force: true })
    }
  }
  return results
}

const CASES: Readonly<Record<string, Make>> = {
  'log: one of 10 GB': (folder, size) => {
    const path = fileIn(folder, `claude/projects/-p/${sessionId(1)}.jsonl`)
    writePieces(path, size(10e9), (n) => claudeRecord(sessionId(1), n))
    return { args: ['sync'], expect: ({ sessions, damage }) => sessions === 1 && damage === 0 }
  },
  'files: a million of 300 bytes in 1,000 folders': (folder, size) => {
    const count = size(1e6)
    for (let n = 0; n < count; n += 1) {
      const project = join(folder, `claude/projects/-p${n % Math.ceil(count / 1000)}`)
      if (n < Math.ceil(count / 1000)) fs.mkdirSync(project, { recursive: true })
      fs.writeFileSync(join(project, `${sessionId(n)}.jsonl`), tiny(n))
    }
    return { args: ['sync'], expect: ({ sessions }) => sessions === count }
  },
  'line: one of 1 GB': (folder, size) => {
    const path = fileIn(folder, `claude/projects/-p/${sessionId(1)}.jsonl`)
    const before = claudeRecord(sessionId(1), 0)
    writePieces(
      path,
      size(1e9),
      (n) =>
        n === 0 ? `${before}{"type":"assistant","sessionId":"${sessionId(1)}","text":"` : 'x'.repeat(9999),
      `"}\n${claudeRecord(sessionId(1), 1)}`,
    )
    return { args: ['sync'], expect: ({ sessions, entries }) => sessions === 1 && entries >= 2 }
  },
  'line: many of 30 MB in 4 files': (folder, size) => {
    for (let n = 0; n < 4; n += 1) {
      const answer = 'a漢'.repeat(size(30e6) / 4)
      const path = fileIn(folder, `claude/projects/-p/${sessionId(n)}.jsonl`)
      for (let line = 0; line < 8; line += 1)
        fs.appendFileSync(path, claudeRecord(sessionId(n), line, answer))
    }
    return { args: ['sync'], expect: ({ sessions, damage }) => sessions === 4 && damage === 0 }
  },
  'line: two of 30 MB in 2 files, with an emoji and a secret': (folder, size) => {
    const words = 'all that was said before '.repeat(size(15e6) / 25)
    const secret = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6'
    const answer = `${words}😀 token ghp_${secret} ${words}`
    for (let n = 0; n < 2; n += 1) {
      const path = fileIn(folder, `claude/projects/-p/${sessionId(n)}.jsonl`)
      for (let line = 0; line < 4; line += 1)
        fs.appendFileSync(path, claudeRecord(sessionId(n), line, answer))
    }
    return { args: ['sync'], expect: ({ sessions, damage }) => sessions === 2 && damage === 0 }
  },
  'line: nothing but brackets, 30 MB, in 4 files': (folder, size) => {
    for (let n = 0; n < 4; n += 1) {
      const path = fileIn(folder, `claude/projects/-p/${sessionId(n)}.jsonl`)
      const head = claudeRecord(sessionId(n), 0)
      fs.writeFileSync(
        path,
        `${head}${head.slice(0, -2)},"more":[${'{},'.repeat(size(30e6) / 3)}{}]}\n${claudeRecord(sessionId(n), 1)}`,
      )
    }
    return { args: ['sync'], expect: ({ sessions }) => sessions === 4 }
  },
  'line: nothing but names, strings or fractions, 25 MB, in 3 files': (folder, size) => {
    const parts: readonly ((n: number) => string)[] = [
      (n) => `${n === 0 ? '' : '},'}{"${n.toString(36)}":1`,
      (n) => `${n === 0 ? '' : ','}"${n.toString(36)}"`,
      (n) => (n === 0 ? '1' : ',1.5'),
    ]
    for (const [n, part] of parts.entries()) {
      const path = fileIn(folder, `claude/projects/-p/${sessionId(n)}.jsonl`)
      const head = claudeRecord(sessionId(n), 0)
      writePieces(
        path,
        size(25e6),
        (at) => (at === 0 ? `${head}${head.slice(0, -2)},"more":[` : '') + part(at),
        `${n === 0 ? '}' : ''}]}\n${claudeRecord(sessionId(n), 1)}`,
      )
    }
    // Only a line so long is too much to take in.
    const least = size(25e6) < 25e6 ? 0 : 3
    return { args: ['sync'], expect: ({ sessions, damage }) => sessions === 3 && damage >= least }
  },
  ...documents(),
  ...MANY,
  ...HOSTILE,
  'bomb: gzip, 10 GB of zeros': async (folder, size) => {
    const zeros = Buffer.alloc(1e6)
    await writeGzip(fileIn(folder, 'in/zeros.jsonl.gz'), size(10e9), () => zeros)
    return { args: ['sync', join(folder, 'in')], expect: () => true }
  },
  'bomb: gzip, 10 GB of one record': async (folder, size) => {
    const record = Buffer.from(claudeRecord(sessionId(1), 0).repeat(1000))
    await writeGzip(fileIn(folder, 'in/records.jsonl.gz'), size(10e9), () => record)
    return { args: ['sync', join(folder, 'in')], expect: () => true }
  },
  'gzip: 10 GB of records, no bomb': async (folder, size) => {
    const many = (n: number): Buffer =>
      Buffer.from(Array.from({ length: 1000 }, (_, at) => claudeRecord(sessionId(1), n * 1000 + at)).join(''))
    // Nine times as fast as it is by default, and the less it packs the less it is like a bomb.
    await writeGzip(fileIn(folder, 'in/records.jsonl.gz'), size(10e9), many, 1)
    return { args: ['sync', join(folder, 'in')], expect: ({ sessions }) => sessions === 1 }
  },
  'bomb: zstd, 10 GB of zeros': (folder, size) => {
    writeZstdBomb(fileIn(folder, 'in/zeros.jsonl.zst'), 0, size(10e9))
    return { args: ['sync', join(folder, 'in')], expect: () => true }
  },
  'bomb: zip, 5 members of 2 GB of one record': async (folder, size) => {
    const names = Array.from({ length: 5 }, (_, n) => `projects/-p/${sessionId(n)}.jsonl`)
    const piece = Buffer.from(claudeRecord(sessionId(1), 0).repeat(1000))
    await writeZip(fileIn(folder, 'in/logs.zip'), names, piece, size(2e9))
    return { args: ['import', join(folder, 'in/logs.zip')], expect: () => true }
  },
  'database: OpenCode, 1 GB': async (folder, size) => {
    await writeDatabase(fileIn(folder, 'work/.local/share/opencode/opencode.db'), size(1e9))
    return { args: ['sync'], expect: ({ sessions, damage }) => sessions > 0 && damage === 0 }
  },
}

function documents(): Readonly<Record<string, Make>> {
  const cases: Record<string, Make> = {}
  for (const [format, kind] of Object.entries(DOCUMENTS)) {
    for (const damage of ['whole', 'cut', 'garbage'] as const) {
      cases[`document: ${format}, 2 GB, ${damage}`] = (folder, size) => {
        const path = fileIn(folder, `in/${kind.path}`)
        writeDocument(path, kind, size(2e9), damage)
        const least = (size(2e9) / 1300) * (damage === 'whole' ? 1 : 0.9)
        return {
          args: ['sync', join(folder, 'in')],
          expect: (report) =>
            report.sessions === 1 && report.damage > 0 === (damage !== 'whole') && report.entries > least,
        }
      }
    }
  }
  return cases
}

function tiny(n: number): string {
  return `{"type":"user","uuid":"u${n}","parentUuid":null,"sessionId":"${sessionId(n)}","cwd":"/home/me","version":"2.1.0","isSidechain":false,"timestamp":"2026-02-10T23:31:05.000Z","message":{"role":"user","content":"hello ${n}"}}\n`
}

function fileIn(folder: string, path: string): string {
  fs.mkdirSync(dirname(join(folder, path)), { recursive: true })
  return join(folder, path)
}

function measure(
  name: string,
  folder: string,
  { args, expect, stdin, mayFail = false }: Case,
  most = MOST_MB,
): Result {
  const began = performance.now()
  const input = stdin === undefined ? undefined : fs.openSync(stdin, 'r')
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--import', TELL_PEAK, BIN, ...args, '--json'],
    { ...surroundings(folder), maxBuffer: 1e8, stdio: [input ?? 'ignore', 'pipe', 'pipe'], encoding: 'utf8' },
  )
  if (input !== undefined) fs.closeSync(input)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  const { mb, processorMs } = toldPeak(stderr)
  const report =
    stdout.startsWith('{"files"') || stdout.includes('"files"')
      ? (JSON.parse(stdout) as SyncReport)
      : undefined
  const isRight = report === undefined ? mayFail : expect(report)
  const said = report && `${report.sessions} sessions, ${report.entries} entries, ${report.damage} damaged`
  const problems = report?.problems.map(({ cause, count }) => `${cause} ${count}`).join(', ')
  const detail = `MB; ${seconds} s, ${(processorMs / 1000).toFixed(0)} s of processor; exit ${status}; ${said ?? (stdout + stderr).slice(-300)}${problems ? `; ${problems}` : ''}`
  const result = atMost(name, mb, most, isRight ? detail : `NOT AS IT SHOULD BE: ${detail}`)
  return { ...result, ok: result.ok && isRight }
}

/** What it prints is let go. */
function ask(name: string, folder: string, args: readonly string[]): Result {
  const began = performance.now()
  const { stderr, status } = spawnSync(process.execPath, ['--import', TELL_PEAK, BIN, ...args], {
    ...surroundings(folder),
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const { mb, processorMs } = toldPeak(stderr)
  const detail = `MB; ${seconds} s, ${(processorMs / 1000).toFixed(1)} s of processor; exit ${status}`
  const result = atMost(name, mb, MOST_MB, status === 0 ? detail : `FAILED: ${detail}; ${stderr.slice(-300)}`)
  return { ...result, ok: result.ok && status === 0 }
}

function surroundings(folder: string): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  return {
    cwd: join(folder, 'work'),
    env: {
      PATH: process.env['PATH'],
      HOME: join(folder, 'work'),
      CLAUDE_CONFIG_DIR: join(folder, 'claude'),
      HANSARD_HOME: join(folder, 'archive'),
    },
  }
}
