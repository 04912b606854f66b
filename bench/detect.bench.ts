/**
 * Which format a file is in, asked of all of them: a recording of each at its own size, with 200 KB in its first line, with a head full of
 * short records, and as a document of 10 MB; packed; a database; zips. Processor time, the least of many, in a process that is warm; bytes
 * counted where they are read.
 */
import fs from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { MOST_MS, timeDetection } from '../test/detection-time.ts'
import type { Bench } from './bench.ts'
import { writeInspectZip, writeManyShapes, writeShortLines, writeShortRecords } from './full-heads.ts'
import { GROWN, TEXTS, toKind, toText, withLongText } from './grown-samples.ts'
import { writeDocument, writeZip } from './huge-files.ts'
import { atMost, median, type Result } from './measure.ts'
import { writeDatabase } from './opencode-sample.ts'

const MOST_BYTES = 64 * 1024
const ROUNDS = 100

type Kind =
  | 'small'
  | 'a long first line'
  | 'a full head'
  | 'a long document'
  | 'gzip'
  | 'a database'
  | 'a zip'
type Case = { readonly kind: Kind; readonly path: string; readonly format: string }

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  try {
    const cases = await makeCases(folder, quick ? 1e6 : 10e6)
    const read = await countBytes()
    const measured = new Map<Case, Measured>()
    // Whatever is first pays for what is compiled.
    for (const one of cases) await measure(one, 5, read)
    for (const one of cases) measured.set(one, await measure(one, ROUNDS, read))
    const kinds = [...new Set(cases.map(({ kind }) => kind))]
    return kinds.flatMap((kind) =>
      toResults(
        kind,
        [...measured].filter(([one]) => one.kind === kind),
      ),
    )
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function makeCases(folder: string, size: number): Promise<readonly Case[]> {
  const cases: Case[] = []
  const add = (kind: Kind, format: string, name: string): string => {
    const path = join(folder, `${cases.length}-${basename(name)}`)
    cases.push({ kind, path, format })
    return path
  }
  for (const sample of GROWN) {
    const { format, path } = sample
    const text = toText(sample)
    fs.writeFileSync(add('small', format, path), text)
    const long = withLongText(sample, 200_000)
    fs.writeFileSync(
      add(sample.isLines ? 'a long first line' : 'a long document', format, path),
      toText(long),
    )
    if (sample.isLines) writeShortRecords(add('a full head', format, path), text)
    const kind = toKind(sample)
    if (kind !== undefined) {
      writeDocument(add('a long document', format, path), kind, size, 'whole')
      writeShortLines(add('a full head', format, path), kind)
    }
    const packed = add('gzip', format, `${path}.gz`)
    if (sample.isLines) fs.writeFileSync(packed, text.repeat(Math.ceil(200_000 / text.length)))
    else if (kind === undefined) fs.writeFileSync(packed, text)
    else writeDocument(packed, kind, 200_000, 'whole')
    fs.writeFileSync(packed, gzipSync(fs.readFileSync(packed)))
  }
  for (const [format, text] of Object.entries(TEXTS)) fs.writeFileSync(add('small', format, 'x.txt'), text)
  writeManyShapes(add('a full head', 'claude-code', 'shapes.jsonl'))
  await writeDatabase(add('a database', 'opencode', 'opencode.db'), size)
  const claude = GROWN.find(({ format }) => format === 'claude-code')
  if (claude === undefined) throw new Error('no sample of Claude Code')
  const names = Array.from({ length: 50 }, (_, n) => `projects/-p/${n}.jsonl`)
  await writeZip(add('a zip', 'claude-code', 'logs.zip'), names, Buffer.from(toText(claude)), 100_000)
  await writeInspectZip(add('a zip', 'inspect', 'log.eval'))
  return cases
}

type Measured = { readonly ms: number; readonly bytes: number; readonly format: string | undefined }

async function measure({ path }: Case, rounds: number, read: { bytes: number }): Promise<Measured> {
  read.bytes = 0
  const { ms, format } = await timeDetection(path, rounds)
  return { ms, bytes: read.bytes / rounds, format }
}

function toResults(kind: Kind, all: readonly (readonly [Case, Measured])[]): readonly Result[] {
  const times = all.map(([, { ms }]) => ms).toSorted((a, b) => a - b)
  const wrong = all.filter(([{ format }, found]) => found.format !== format)
  const slowest = all.toSorted(([, a], [, b]) => b.ms - a.ms)[0]
  const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN
  const detail = `ms at most of ${all.length} files: ${slowest?.[0].format}; p50 ${median(times).toFixed(2)}, p99 ${p99.toFixed(2)}`
  const told = wrong.map(([{ format }, found]) => `${format} as ${found.format}`).join(', ')
  const time = atMost(
    `detect ${kind}`,
    times.at(-1) ?? Number.NaN,
    MOST_MS,
    detail + (told && `; WRONG: ${told}`),
  )
  const bytes = Math.max(...all.map(([, one]) => one.bytes))
  return [
    { ...time, ok: time.ok && wrong.length === 0 },
    atMost(`detect ${kind}: read`, bytes / 1024, MOST_BYTES / 1024, 'KB at most'),
  ]
}

/** Adds up what handles and descriptors give from here on. */
async function countBytes(): Promise<{ bytes: number }> {
  const read = { bytes: 0 }
  const handle = await open(import.meta.filename)
  const shared = Object.getPrototypeOf(handle) as {
    read: (...args: unknown[]) => Promise<{ bytesRead: number }>
  }
  const plain = shared.read
  shared.read = async function (...args) {
    const done = await plain.apply(this, args)
    read.bytes += done.bytesRead
    return done
  }
  await handle.close()
  const sync = fs.readSync as (...args: unknown[]) => number
  Object.assign(fs, {
    readSync(...args: unknown[]) {
      const length = sync(...args)
      read.bytes += length
      return length
    },
  })
  syncBuiltinESMExports()
  return read
}
