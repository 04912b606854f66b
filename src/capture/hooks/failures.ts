/**
 * What went wrong in a hook, where `hansard doctor` looks: an agent that calls us must not see it. A small file in the archive that
 * never grows past its limit; in the user's cache folder where the archive cannot be written. Never throws, never holds content.
 */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { readSmallFile } from '../../sources/at-once.ts'
import { hooksFolder } from './queue.ts'
import { makeFolder } from './make-folder.ts'

export type HookFailure = { readonly at: string; readonly agent: string; readonly problem: string }

const LIMIT_BYTES = 32 * 1024
const PROBLEM_CHARACTERS = 500

export function noteFailure(home: string, agent: string, problem: string): void {
  const cut = problem.slice(0, PROBLEM_CHARACTERS)
  const line = `${JSON.stringify({ at: new Date().toISOString(), agent: agent.slice(0, 40), problem: cut })}\n`
  for (const path of pathsFor(home)) {
    try {
      makeFolder(dirname(path))
      append(path, line)
      return
    } catch {
      // Where neither can be written there is nobody to tell.
    }
  }
}

/** The newest last. */
export function readFailures(home: string, env: NodeJS.ProcessEnv = process.env): readonly HookFailure[] {
  return pathsFor(home, env)
    .flatMap((path) => readLines(path))
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

function pathsFor(home: string, env: NodeJS.ProcessEnv = process.env): readonly string[] {
  const { XDG_CACHE_HOME: cache, HOME: user, LOCALAPPDATA: local } = env
  const base = cache || (user ? join(user, '.cache') : local)
  return [
    join(hooksFolder(home), 'failures.jsonl'),
    ...(base ? [join(base, 'hansard', 'hook-failures.jsonl')] : []),
  ]
}

function append(path: string, line: string): void {
  const size = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size + line.length <= LIMIT_BYTES) return fs.appendFileSync(path, line, { mode: 0o600 })
  // The older half goes. What two hooks note in the same moment may cost one of the notes.
  const lines = fs.readFileSync(path, 'utf8').slice(-LIMIT_BYTES).split('\n')
  const kept = lines.slice(Math.ceil(lines.length / 2)).join('\n')
  const temporary = `${path}.${process.pid}`
  fs.writeFileSync(temporary, kept.slice(-LIMIT_BYTES / 2) + line, { mode: 0o600 })
  fs.renameSync(temporary, path)
}

function readLines(path: string): readonly HookFailure[] {
  let text: string
  try {
    text = readSmallFile(path, 4 * LIMIT_BYTES)
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    const value = parse(line)
    if (typeof value !== 'object' || value === null) return []
    const { at, agent, problem } = value as { [key: string]: unknown }
    return typeof at === 'string' && typeof agent === 'string' && typeof problem === 'string'
      ? [{ at, agent, problem }]
      : []
  })
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
