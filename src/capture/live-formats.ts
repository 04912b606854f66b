/**
 * The seeds' files, written beside the journal as a session goes. Each format is a fold whose steps are carried out at once.
 * One that fails falls behind: it is reported once, the agent notices nothing, and it is made whole from the journal at the end.
 */
import { join, resolve } from 'node:path'
import { createCarryOut, type CarryOut } from '../archive/carry-out.ts'
import type { FileOperation, WriteContext, Writing } from '../formats/format.ts'
import type { WrittenFormat } from '../formats/written-format.ts'
import { systemFiles, type Files } from '../journal/files.ts'
import type { LiveFormat } from '../journal/record.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { HansardError, isHansardError } from '../errors.ts'

export type LiveFormats = {
  /** The roots, as the journal notes them for `recover`. */
  readonly roots: readonly LiveFormat[]
  /** Throws what makes a format impossible that only its first file tells: a run that another process has just started. */
  start(): void
  entry(entry: Entry): void
  end(session: Session): void
  /** Formats whose files lack something that the journal has. */
  behind(): readonly string[]
}

export type LiveFormatOptions = {
  readonly formats: readonly WrittenFormat[]
  readonly session: Session
  readonly cwd: string
  readonly roots: Readonly<Record<string, string | undefined>>
  readonly version: string
  readonly files?: Files
  readonly umask?: Umask
  readonly timeZone?: string
  /**
   * Called before a file is created, with its path relative to the format's root; and, with `taken`, for a name that was asked for
   * and that another has.
   */
  readonly onClaim: (format: string, path: string, taken?: true) => void
  readonly onFailure: (format: string, error: unknown) => void
}

/** Who may read what formats write: its owner alone, or whoever the system's umask lets, as in the seeds' 0644 and 0755. */
export type Umask = 'owner' | 'system'

type Live = {
  readonly id: string
  readonly root: string
  readonly writing: Writing
  readonly out: CarryOut
  failed: boolean
}

/** Begins every fold. Throws what makes a format impossible from the start: a bad id, a run that already exists. */
export function createLiveFormats(options: LiveFormatOptions): LiveFormats {
  if (options.formats.length === 0) return NONE
  const { version, umask, timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone } = options
  const live = options.formats.map((format) => begin(format, { ...options, timeZone }))

  const step = (one: Live, operations: () => readonly FileOperation[]): void => {
    if (one.failed) return
    try {
      one.out.run(operations())
    } catch (error) {
      if (isHansardError(error) && error.code === 'run-already-exists') throw error
      one.failed = true
      options.onFailure(one.id, error)
    }
  }

  return {
    roots: live.map(({ id, root }) => ({
      id,
      root,
      ...(umask === 'system' && { umask }),
      timeZone,
      version,
    })),
    start: () => live.forEach((one) => step(one, () => one.writing.start())),
    entry: (entry) => live.forEach((one) => step(one, () => one.writing.entry(entry))),
    end: (session) => live.forEach((one) => step(one, () => one.writing.end(session))),
    behind: () => live.filter((one) => one.failed).map((one) => one.id),
  }
}

/** The zone alone takes longer to ask for than all else that a session begins with. */
const NONE: LiveFormats = { roots: [], start() {}, entry() {}, end() {}, behind: () => [] }

/** Throws `invalid-argument`. */
export function checkUmask(umask: Umask = 'owner'): Umask {
  if (umask === 'owner' || umask === 'system') return umask
  throw new HansardError('invalid-argument', `no such umask: ${JSON.stringify(umask)}`, {
    hint: 'use owner or system',
  })
}

function begin({ write, id }: WrittenFormat, options: LiveFormatOptions): Live {
  const chosen = options.roots[id]
  const root = chosen === undefined ? join(options.cwd, write.root) : resolve(options.cwd, chosen)
  const files = options.umask === 'system' ? systemFiles : options.files
  const out = createCarryOut({
    root,
    ...(chosen === undefined && { trusted: options.cwd }),
    way: 'live',
    ignored: write.ignored(options.session),
    ...(files && { files }),
    onClaim: (path, taken) => options.onClaim(id, path, taken),
  })
  const context: WriteContext = {
    taken: (path) => out.taken(path),
    claim: (path) => out.claim(path),
    // Live, the journal beside holds everything: what a format cannot hold is not lost.
    lost: () => {},
    filled: () => {},
    version: options.version,
    ...(options.timeZone !== undefined && { timeZone: options.timeZone }),
  }
  return { id, root, writing: write.begin(options.session, context), out, failed: false }
}
