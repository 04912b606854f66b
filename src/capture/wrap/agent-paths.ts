/**
 * Where Claude Code keeps a session's transcripts, below homes that we may read. Paths that hooks name are hostile: one counts only
 * where links lead to a regular file below such a home, under a name that Claude Code gives.
 */
import fs from 'node:fs'
import os from 'node:os'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { isInside } from '../../sources/places.ts'

/** In the folder of a project. `transcripts/` is where weakincentives has them; flat ones of subagents are from before 2.1. */
const MAIN = /^[^/]+\/(?:transcripts\/)?[\w.-]+\.jsonl$/
const SUBAGENT = /^[^/]+\/(?:transcripts\/)?(?:[\w.-]+\/subagents\/(?:[\w.-]+\/)*)?agent-[\w.-]+\.jsonl$/

export type TranscriptPaths = {
  /** The real path of a transcript, where it is one; else why not, for a file that is there. */
  check(path: unknown): { readonly path: string } | { readonly problem: string } | undefined
  /** The main transcript of a session, where no hook has named it. */
  find(sessionId: string): string | undefined
}

/** `homes`: folders that hold a `.claude`, or are one. Claude Code's own is always among them. */
export function createTranscriptPaths(
  homes: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): TranscriptPaths {
  const own = env['CLAUDE_CONFIG_DIR'] ?? join(os.homedir(), '.claude')
  // Looked up when asked: a home may be made after this.
  const projects = (): readonly string[] =>
    [own, ...homes.flatMap((home) => [join(home, '.claude'), home])].flatMap((folder) => {
      try {
        return [fs.realpathSync(join(folder, 'projects'))]
      } catch {
        return []
      }
    })
  const check: TranscriptPaths['check'] = (path) => {
    if (typeof path !== 'string' || path === '') return undefined
    if (!isAbsolute(path) || path.includes('\0')) return { problem: 'a transcript’s path is not absolute' }
    let real: string
    try {
      real = fs.realpathSync(path)
      if (!fs.lstatSync(real).isFile()) return { problem: `${path} is no regular file` }
    } catch {
      return undefined
    }
    const root = projects().find((one) => isInside(one, real))
    const below = root === undefined ? '' : relative(root, real).split(sep).join('/')
    return MAIN.test(below) || SUBAGENT.test(below)
      ? { path: real }
      : { problem: `${path} is not below a home whose transcripts may be read` }
  }
  return {
    check,
    find(sessionId) {
      if (!/^[\w-]{1,128}$/.test(sessionId)) return undefined
      for (const root of projects()) {
        for (const project of names(root)) {
          for (const folder of ['', 'transcripts']) {
            const found = check(join(root, project, folder, `${sessionId}.jsonl`))
            if (found !== undefined && 'path' in found) return found.path
          }
        }
      }
      return undefined
    },
  }
}

export type AgentFile = {
  readonly path: string
  readonly agentId: string
  /** Beside its session: whose it is, only its lines say. */
  readonly isFlat: boolean
}

/** Those of a session's subagents, at any depth, in both layouts. */
export function agentFiles(main: string): readonly AgentFile[] {
  const session = main.replace(/\.jsonl$/, '')
  return [...below(join(session, 'subagents'), 3), ...below(dirname(main), 0)].flatMap((path) => {
    const agentId = agentIdOf(path)
    return agentId === undefined ? [] : [{ path, agentId, isFlat: dirname(path) === dirname(main) }]
  })
}

export function agentIdOf(path: string): string | undefined {
  return /[/\\]agent-([\w.-]+)\.jsonl$/.exec(path)?.[1]
}

/** Regular files only: what links lead to is named by somebody else. */
function below(folder: string, depth: number): readonly string[] {
  let found: readonly fs.Dirent[]
  try {
    found = fs.readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
  return found.flatMap((one) => {
    const path = join(folder, one.name)
    if (one.isFile()) return [path]
    return one.isDirectory() && depth > 0 ? below(path, depth - 1) : []
  })
}

function names(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}
