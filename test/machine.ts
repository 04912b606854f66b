/** A machine of its own for a test of sync: a user's folder with logs of Claude Code in it, and an archive. */
import fs from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { withSessions } from '../src/sources/sessions.ts'
import { sync, type SyncOptions, type SyncReport } from '../src/sources/sync.ts'
import type { Session } from '../src/transcript/session.ts'

export type Machine = {
  readonly base: string
  /** The user's folder. */
  readonly user: string
  /** The archive's. */
  readonly home: string
  readonly cwd: string
  archive(): Archive
  /** Where a log of a session lies. */
  log(session: string): string
  /** Writes it, below the user's folder, with a time of its own: clocks of file systems tick slowly. */
  write(path: string, text: string): string
  sync(options?: Omit<SyncOptions, 'env' | 'userHome' | 'cwd'>): Promise<SyncReport>
  /** As `list --json` has them, newest first. */
  list(): Promise<readonly Session[]>
  /** Every entry of a session, as text. */
  texts(id: string): Promise<readonly string[]>
}

export function createMachine(): Machine {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'hansard-sync-')))
  const user = join(base, 'user')
  const home = join(base, 'archive')
  const cwd = join(base, 'cwd')
  for (const folder of [user, cwd]) fs.mkdirSync(folder)
  const began = Math.floor(Date.now() / 1000) - 10_000
  let writes = 0
  return {
    base,
    user,
    home,
    cwd,
    archive: () => openArchive(home, { write: true }),
    log: (session) => join(user, '.claude/projects/-p', `${session}.jsonl`),
    write(path, text) {
      const absolute = join(user, path.startsWith(user) ? path.slice(user.length) : path)
      fs.mkdirSync(dirname(absolute), { recursive: true })
      fs.writeFileSync(absolute, text)
      writes += 1
      fs.utimesSync(absolute, began + writes, began + writes)
      return absolute
    },
    sync: (options) => sync(openArchive(home, { write: true }), { ...options, env: {}, userHome: user, cwd }),
    list: () => withSessions(home, (sessions) => sessions.list({}).sessions),
    texts: (id) =>
      withSessions(home, async (sessions) => {
        const texts: string[] = []
        for await (const items of sessions.read(sessions.find(id))) {
          for (const item of items) {
            if (item.type !== 'entry') continue
            for (const block of item.entry.blocks)
              if (block.type === 'text' && typeof block.text === 'string') texts.push(block.text)
          }
        }
        return texts
      }),
  }
}

type LineOptions = {
  readonly session: string
  readonly text?: string
  /** What names the call; else the session and the number do. */
  readonly call?: string
  readonly cwd?: string
  readonly input?: number
  readonly more?: object
}

/** A line as Claude Code writes it: questions at even numbers, answers of ten tokens in and five out at odd ones. */
export function claudeLog(n: number, { session, text, call, cwd, input = 10, more }: LineOptions): string {
  const shared = {
    uuid: `${session}-${n}`,
    parentUuid: n === 0 ? null : `${session}-${n - 1}`,
    sessionId: session,
    cwd: cwd ?? '/nowhere',
    version: '2.1.0',
    userType: 'external',
    isSidechain: false,
    timestamp: new Date(1_760_000_000_000 + n * 1000).toISOString(),
    ...more,
  }
  if (n % 2 === 0)
    return `${JSON.stringify({ ...shared, type: 'user', message: { role: 'user', content: text ?? `question ${n}` } })}\n`
  return `${JSON.stringify({
    ...shared,
    type: 'assistant',
    requestId: `req_${call ?? `${session}_${n}`}`,
    message: {
      id: `msg_${call ?? `${session}_${n}`}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: text ?? `answer ${n}` }],
      stop_reason: 'end_turn',
      usage: { input_tokens: input, output_tokens: 5 },
    },
  })}\n`
}

/** The first lines of a session. */
export function claudeLogs(count: number, options: LineOptions): string {
  return Array.from({ length: count }, (_, n) => claudeLog(n, options)).join('')
}
