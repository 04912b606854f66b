/**
 * The `git` program, asked about objects and nothing else: no hook, filter, pager, prompt or network of a repository is
 * ever run, no file of it is written, and no answer is held in memory past its bound.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { dirname, parse } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { HansardError, messageOf, systemCode } from '../errors.ts'
import { checkGitFolder, findGitFolder } from './git-folder.ts'

export type Git = {
  /** What the command prints, piece by piece. Throws `GitFailed` after the last, when the program says that it failed. */
  run(...args: string[]): AsyncGenerator<Buffer>
  /** The same, whole: at most `limit` bytes. */
  text(limit: number, ...args: string[]): Promise<string>
  /** The same of a command that reads lines. */
  feed(lines: Iterable<string>, ...args: string[]): AsyncGenerator<Buffer>
  /** The program itself, for whoever talks with it. */
  start(...args: string[]): GitProcess
}

export type GitProcess = ChildProcessByStdio<Writable, Readable, Readable>

/** The program ended with an error: the object or ref is not there, or the repository is damaged. */
export class GitFailed extends Error {}

/** Long for any answer from a disk; short enough not to wait for ever on a dead one. */
export const SILENCE_MS = 60_000
const MAX_STDERR = 4096

/** Throws `not-found` where no repository is, and `unsafe-path` for one that would make git wait. */
export async function openGitProgram(repository: string): Promise<Git> {
  const found = findGitFolder(repository)
  if (found === undefined)
    throw new HansardError('not-found', `${repository} is not a git repository`, { hint: 'check the path' })
  checkGitFolder(found)
  // Git looks for the repository itself, since only then it refuses one that belongs to another user.
  const folder = realpathSync(repository)
  const run = (...args: string[]): AsyncGenerator<Buffer> => runGit(folder, args)
  return {
    run,
    feed: (lines, ...args) => runGit(folder, args, lines),
    start: (...args) => startGit(folder, args),
    async text(limit, ...args) {
      const parts: Buffer[] = []
      let held = 0
      for await (const piece of run(...args)) {
        held += piece.length
        if (held > limit) throw new HansardError('too-large', `git answers with more than ${limit} bytes`)
        parts.push(piece)
      }
      return Buffer.concat(parts).toString('utf8')
    },
  }
}

/** What a repository's own settings might have run while objects are read: said no to, whatever they say. */
const REFUSED = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.alternateRefsCommand=']

function startGit(folder: string, args: readonly string[]): GitProcess {
  const settings = REFUSED.flatMap((setting) => ['-c', setting])
  const child = spawn(
    'git',
    ['-C', folder, '--no-pager', '--no-replace-objects', ...settings, ...args],
    // Windows looks for programs in the current folder first, which may be anybody's.
    {
      cwd: parse(process.execPath).root,
      env: environment(folder),
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    },
  )
  // A program that has ended reads no more: its end is told by its output.
  child.stdin.on('error', () => undefined)
  return child
}

async function* runGit(
  folder: string,
  args: readonly string[],
  lines: Iterable<string> = [],
): AsyncGenerator<Buffer> {
  const child = startGit(folder, args)
  Readable.from(withEnds(lines)).pipe(child.stdin)
  let said = ''
  let failed: unknown
  const ended = new Promise<number | null>((done) => {
    child.once('error', (error) => {
      failed = error
      done(null)
    })
    child.once('close', done)
  })
  child.stderr.on('data', (piece: Buffer) => {
    if (said.length < MAX_STDERR) said += piece.toString('utf8')
  })
  let silence = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS)
  try {
    for await (const piece of child.stdout) {
      // While the receiver works the program waits for it: that is not silence.
      clearTimeout(silence)
      yield piece
      silence = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS)
    }
    const code = await ended
    if (failed !== undefined) throw cannotStart(failed)
    if (code !== 0 && /dubious ownership|owned by someone else/.test(said)) throw notOwn(folder)
    if (code !== 0) throw new GitFailed(said.split('\n')[0] || 'git ended without a word')
  } finally {
    clearTimeout(silence)
    child.kill('SIGKILL')
  }
}

function notOwn(folder: string): HansardError {
  return new HansardError(
    'not-permitted',
    `${folder} is a repository of another user: git does not read it`,
    {
      hint: 'run hansard as the user whose it is',
    },
  )
}

/** Many in one write: there may be a hundred thousand. */
const LINES_A_WRITE = 256

function* withEnds(lines: Iterable<string>): Generator<string> {
  let some = ''
  let count = 0
  for (const line of lines) {
    some += `${line}\n`
    count += 1
    if (count % LINES_A_WRITE !== 0) continue
    yield some
    some = ''
  }
  if (some !== '') yield some
}

export function cannotStart(error: unknown): HansardError {
  if (systemCode(error) === 'ENOENT') {
    return new HansardError('not-found', 'the git program is not installed', {
      hint: 'install git, or check out the files and name their folder',
      cause: error,
    })
  }
  return new HansardError('io', `the git program cannot be started (${messageOf(error)})`, { cause: error })
}

/** No repository can guess it, to name a program so. */
const NO_PROTOCOL = randomUUID()

/** Only what finding and running git needs, and a no to everything it might do beyond reading objects. */
function environment(folder: string): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, TEMP, TMPDIR } = process.env
  return {
    ...(PATH !== undefined && { PATH }),
    ...(SystemRoot !== undefined && { SystemRoot }),
    ...(TEMP !== undefined && { TEMP }),
    ...(TMPDIR !== undefined && { TMPDIR }),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: process.platform === 'win32' ? 'NUL' : '/dev/null',
    // Not one that the folder lies in.
    GIT_CEILING_DIRECTORIES: dirname(folder),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    // An object that a partial clone lacks would be fetched, by a program that the repository names. Git before 2.45 does not know
    // the first of these. The second is a list of allowed protocols: an empty one allows the protocol without a name.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: NO_PROTOCOL,
  }
}
