/**
 * What a format is: how some system lays transcripts on disk. Pure: it sees bytes through a `Source`, gives entries, and
 * answers writing with file operations that somebody else carries out. To add one: a file here, a line in `index.ts`, a page
 * in `docs/formats/`.
 */
import type { Damage } from '../transcript/damage.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import type { Row, ShortFile, Source, SourceDatabase, SourceFile } from '../transcript/source.ts'

export type Format = {
  readonly id: string
  /** One line for `hansard formats`. */
  readonly title: string
  /** How sure the content makes us, from 0 to 1; undefined for "not this". By content, never by a name or label. */
  detect(source: Source): Promise<Detection | undefined>
  /** The surest it ever is, where that is never very: whoever is surer by far leaves nothing for it to say. */
  readonly surest?: number
  /** True where its own words are all that the first records say: in its own places, nobody else is then asked. */
  isSurely?(source: Source): Promise<boolean>
  /**
   * Every record as entries, session facts or damage. Never throws for what is in the bytes. A list is good until the next is asked
   * for: one with many MB in it is emptied then.
   */
  read(source: Source, options?: ReadOptions): AsyncIterable<readonly ReadItem[]>
  /**
   * `isSurely` and `read` in one, for facts of a single file and without promises: opened once, told by bytes that are read anyway.
   * Undefined, and the file left, where it is not surely its own or cannot be read so. `open`: undefined for a file that is longer.
   */
  readAtOnce?(
    path: string,
    open: (mostBytes: number) => ShortFile | undefined,
    options: ReadOptions,
  ): ItemsAtOnce | undefined
  /**
   * Begins to read a log that grows, for facts. Absent: what has grown is read whole. Undefined: so is this one, for what lies beside it
   * has a say in it, too.
   */
  follow?(source: Source, options?: ReadOptions): Promise<LogFollowing | undefined>
  /** The same for a database of many sessions, by its path: of these, those are read anew that rows came to. */
  followDatabase?(file: Pick<SourceFile, 'path'>): DatabaseFollowing
  readonly write?: Writer
  /** Where its files lie on people's machines; absent for what has no place of its own. */
  readonly places?: readonly Place[]
  /**
   * What a file of a place is read together with: the path of the file or folder that the unit is called by. Sub-agents' logs
   * belong to their session's, a step's receipt to its run. Absent: each file is read alone.
   */
  unit?(file: SourceFile): string | Promise<string>
  /** Nothing beside a unit's own files is looked for: it may be read before what lies beside it is kept. */
  readonly isReadAlone?: boolean
}

/** A log that is read on where it ended, each time it has grown. What is said of it in all is what `read` says of the whole. */
export type LogFollowing = {
  /**
   * Files of the unit that are new, and what was added to others: whole lines, by the same paths. Ends with the session's facts as they
   * are known now.
   */
  more(added: readonly SourceFile[]): AsyncIterable<readonly ReadItem[]>
  /** False once something came that only reading the whole can tell: nothing that was said counts any more. */
  isSure(): boolean
}

/** A database whose sessions are read anew when rows of theirs come. What is said of it in all is what `read` says of the whole. */
export type DatabaseFollowing = {
  /** The columns of a table's rows that tell whose they are. */
  told(table: string): readonly string[]
  /** A row came, or was another before: in the columns that are told. */
  note(table: string, row: Row): void
  /**
   * Reads the sessions that rows came to, and those of which others say something else now; the first time, all. Gives the ids of all
   * there are, in the order in which the whole would be read. Undefined where only reading the whole can tell.
   */
  read(database: SourceDatabase, begin: (id: string) => SessionTaking): Promise<readonly string[] | undefined>
}

/** Takes all that is said of one session. */
export type SessionTaking = {
  readonly drift: (drift: Drift) => void
  readonly add: (items: readonly ReadItem[]) => void
  readonly end: () => void
}

/** What is read without promises, until it is left. */
export type ItemsAtOnce = {
  /** The next list, good until another is asked for; undefined at the end. */
  next(): readonly ReadItem[] | undefined
  leave(): void
}

/** Folders that an agent writes to, and which of their files count. Data: looked up on disk by `src/sources`. */
export type Place = {
  /**
   * As people write them: `~/.pi/agent/sessions`, `${CODEX_HOME:-~/.codex}/sessions`, `${APPDATA}/Code/User`. One whose
   * variable is not set, and that names no other, is no place. `./.devflow`: below each working directory that is known.
   */
  readonly folders: readonly string[]
  /** Globs relative to the folder, with `/`: `**\/*.jsonl`. */
  readonly files: readonly string[]
  /** Globs of files that agents write beside a log, maybe before it: without a log they are no session and no failure. */
  readonly beside?: readonly string[]
  /** Which rows of a database count; others may hold keys and are never read. Absent: the files are no databases. */
  readonly rows?: readonly RowsKept[]
}

export type RowsKept = {
  readonly table: string
  readonly where?: KeysKept
  /** The column with the time, in milliseconds since 1970, of a row's last change: who follows it asks for what is newer. */
  readonly changedAt?: string
  /** Its rows are never changed: a log. */
  readonly isAppended?: boolean
}

/** Only rows whose text in this column begins with one of these. */
export type KeysKept = {
  readonly column: string
  readonly prefixes: readonly string[]
  /**
   * Of a table whose rows are changed and do not say when: behind each prefix stands what a row is of, up to the next `:` or the end. Those
   * of this prefix change with the others of the same name. Who follows the table asks for the newest of these, and of what was lately
   * written to.
   */
  readonly heads?: string
}

export type ReadOptions = {
  /** Told of what this reader has not seen before, each time it comes: a format changed. What it is in is kept all the same. */
  readonly drift?: (drift: Drift) => void
  /** Nobody will write these entries again: what only a writer puts back need not be looked for. */
  readonly isForFacts?: boolean
  /** Older versions of the same files, from the oldest on: whoever names or counts by place is told what had been there. */
  readonly older?: readonly Source[]
}

/** A record type, a key of a record (`assistant.effort`), or a block type that the format's vocabulary lacks. */
export type Drift = {
  readonly kind: 'record' | 'key' | 'block'
  readonly name: string
  /** The agent's version that wrote it, where the file says so. */
  readonly version?: string
}

export type Detection = { readonly confidence: number; readonly reason: string }

/**
 * `session` opens a session, or, with the id of one already opened, restates its facts as they are known now.
 * Entries and damage belong to the session opened last.
 */
export type ReadItem =
  | { readonly type: 'session'; readonly session: Session }
  | { readonly type: 'entry'; readonly entry: Entry }
  | { readonly type: 'damage'; readonly damage: Damage }

export type Writer = {
  /** Where the seed puts its files, relative to the session's working directory: `.devflow`. */
  readonly root: string
  /** The folder, relative to the root, that gets a `.gitignore` of `*` when it lies inside a repository. */
  ignored(session: Session): string
  /** Begins a fold over one session. Throws only for what makes writing impossible (a bad id, a run that exists). */
  begin(session: Session, context: WriteContext): Writing
}

/** A fold: each call takes one step and says what to do on disk. Deterministic, so `recover` can take the same steps again. */
export type Writing = {
  /** What must exist before the first entry. */
  start(): readonly FileOperation[]
  entry(entry: Entry): readonly FileOperation[]
  /** The session's last word: status, end, totals. Once. */
  end(session: Session): readonly FileOperation[]
}

export type WriteContext = {
  /** True when something this fold did not write stands at the path (relative to the root). */
  taken(path: string): boolean
  /**
   * Makes the path this fold's own, with an empty file there; false when another has it. Of two processes that ask for one path, one
   * gets it. Absent where nobody else writes: then what is not taken is free.
   */
  readonly claim?: (path: string) => boolean
  /** Said for each thing the target cannot hold, and for each required field that had to be filled in. */
  lost(entry: Entry | undefined, what: string): void
  filled(entry: Entry | undefined, field: string): void
  /** For formats that write local time; the system's zone when absent. */
  readonly timeZone?: string
  /** Hansard's own version, for formats that must name one. */
  readonly version: string
}

/** Paths are relative to the writer's root, with `/`. */
export type FileOperation =
  /** Adds whole lines at the end; creates the file. */
  | { readonly op: 'append'; readonly path: string; readonly text: string }
  /**
   * Puts a whole file in place, atomically. One that belongs `beside` another of this fold's gets the number which that one was
   * given when it was set aside meanwhile; otherwise what others wrote in its place is set aside.
   */
  | {
      readonly op: 'write'
      readonly path: string
      readonly content: string | Buffer
      readonly beside?: string
    }
  /** The same, only when nothing is there. */
  | { readonly op: 'create'; readonly path: string; readonly content: string }
  /** Rewrites a file from what it holds now, atomically: shared indexes. */
  | { readonly op: 'update'; readonly path: string; readonly change: (current: string | undefined) => string }
  /** Removes a file that this format wrote. */
  | { readonly op: 'remove'; readonly path: string }
  /** Keeps the last files of a folder, by name or in the `order` given, and removes the rest of those ending so. */
  | {
      readonly op: 'prune'
      readonly folder: string
      readonly suffix: string
      readonly keep: number
      readonly order?: (a: string, b: string) => number
    }
  /**
   * Renames what this fold did not write to its next free numbered sibling, `<stem>.<n>.<ext>`, and those `with` it to the same
   * number; nothing when nothing is there.
   */
  | { readonly op: 'set-aside'; readonly path: string; readonly with?: readonly string[] }

/** True when the path is this fold's from now on. */
export function claimPath(context: WriteContext, path: string): boolean {
  return context.claim === undefined ? !context.taken(path) : context.claim(path)
}
