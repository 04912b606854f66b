/** Folders full of logs as Claude Code leaves them: sessions of many projects, every call with an id of its own. */
import fs from 'node:fs'
import { join } from 'node:path'
import { claudeLine } from './samples.ts'

export type Logs = {
  /** What `CLAUDE_CONFIG_DIR` names. */
  readonly config: string
  readonly files: readonly string[]
  readonly bytes: number
}

type Sizes = { readonly files: number; readonly bytesEach: number }

/** Sessions of one project lie in one folder. */
const SESSIONS_EACH = 40

export function writeClaudeLogs(config: string, { files, bytesEach }: Sizes): Logs {
  const paths: string[] = []
  let bytes = 0
  for (let n = 0; n < files; n += 1) {
    const folder = join(config, 'projects', `-home-me-project-${Math.floor(n / SESSIONS_EACH)}`)
    if (n % SESSIONS_EACH === 0) fs.mkdirSync(folder, { recursive: true })
    const session = sessionId(n)
    const path = join(folder, `${session}.jsonl`)
    bytes += writeClaudeLog(path, session, bytesEach)
    paths.push(path)
  }
  return { config, files: paths, bytes }
}

/** Of about the size asked for, in pieces: it may be larger than memory. */
export function writeClaudeLog(path: string, session: string, size: number): number {
  const fd = fs.openSync(path, 'w')
  let bytes = 0
  try {
    for (let n = 0; bytes < size;) {
      let text = ''
      while (text.length < 1_000_000 && bytes + text.length < size) {
        text += claudeLineOf(session, n)
        n += 1
      }
      bytes += fs.writeSync(fd, text)
    }
  } finally {
    fs.closeSync(fd)
  }
  return bytes
}

export function claudeLineOf(session: string, n: number): string {
  return claudeLine(n)
    .replaceAll('11111111-1111-4111-8111-111111111111', session)
    .replace(/"(msg|req)_(\d+)"/g, `"$1_${session.slice(0, 8)}_$2"`)
}

export function sessionId(n: number): string {
  return `${n.toString(16).padStart(8, '0')}-1111-4111-8111-111111111111`
}
