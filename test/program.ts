/** The built program, run as a user runs it. `HANSARD_BIN` names another build to put to the same tests. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join, resolve } from 'node:path'

/** Beside it when this file itself is built. */
const PLACES = ['../dist/bin/hansard.js', '../bin/hansard.js'].map((path) =>
  resolve(import.meta.dirname, path),
)

export const BIN =
  process.env['HANSARD_BIN'] ?? PLACES.find((path) => fs.existsSync(path)) ?? PLACES.join(' or ')

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type RunOptions = {
  readonly cwd?: string
  readonly input?: string | Buffer
  readonly env?: Readonly<Record<string, string>>
  /** The heap's limit in MB: what shows that memory is bounded. */
  readonly heapMb?: number
}

/** A program that has not ended after this long hangs. */
const PATIENCE_MS = 40_000

export function run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { cwd, input = '', env = {}, heapMb } = options
  const limits = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]
  const child = spawn(process.execPath, [...limits, BIN, ...args], {
    ...(cwd !== undefined && { cwd }),
    env: { PATH: process.env['PATH'] ?? '', TZ: 'UTC', ...env },
    timeout: PATIENCE_MS,
  })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return new Promise((done) => {
    child.on('close', (code) => {
      done({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() })
    })
  })
}

export function temporaryFolder(): string {
  return fs.mkdtempSync(join(os.tmpdir(), 'hansard-cli-'))
}
