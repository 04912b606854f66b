/** What SQLite says went wrong, in our words, whichever engine says it. */
import { type ErrorCode, HansardError, isHansardError, messageOf } from '../errors.ts'

/** Primary result codes, https://sqlite.org/rescode.html */
const BY_CODE: ReadonlyMap<number, readonly [ErrorCode, string, string?]> = new Map<
  number,
  readonly [ErrorCode, string, string?]
>([
  [3, ['not-permitted', 'may not be opened', 'check its owner and mode']],
  [5, ['locked', 'is in use by another program', 'run the command again when that program is done']],
  [6, ['locked', 'is in use by this program', 'run the command again']],
  [8, ['read-only', 'may only be read', 'check its owner and mode']],
  [11, ['io', 'is a damaged database']],
  [13, ['disk-full', 'does not fit on the disk', 'free some space and run the command again']],
  [14, ['not-found', 'cannot be opened as a database', 'check the path, and the mode of its folder']],
  [26, ['io', 'is not a database']],
])
const DAMAGED: ReadonlySet<number> = new Set([11, 26])
/** SQLITE_IOERR_SHORT_READ: a file is shorter than what lies beside it says, as a disk that was full may leave it. */
const SHORT_READ = 522
/** Names of the primary codes above, for an engine that gives only a name. */
const NAMES: ReadonlyMap<string, number> = new Map([
  ['SQLITE_PERM', 3],
  ['SQLITE_BUSY', 5],
  ['SQLITE_LOCKED', 6],
  ['SQLITE_READONLY', 8],
  ['SQLITE_CORRUPT', 11],
  ['SQLITE_FULL', 13],
  ['SQLITE_CANTOPEN', 14],
  ['SQLITE_NOTADB', 26],
])

export function fromSqliteError(error: unknown, path: string): HansardError {
  if (isHansardError(error)) return error
  const code = primaryCode(error)
  const [ours, said, hint] = (code !== undefined && BY_CODE.get(code)) || [
    'io' as const,
    'cannot be used',
    undefined,
  ]
  return new HansardError(ours, `${path} ${said} (${messageOf(error)})`, {
    cause: error,
    ...(hint && { hint }),
  })
}

/** For who finds, in a database that SQLite can read, what nobody wrote there. */
export function damagedDatabase(what: string): HansardError {
  return new HansardError('io', `a database is damaged: ${what}`, {
    cause: Object.assign(new Error(what), { errcode: NAMES.get('SQLITE_CORRUPT') }),
  })
}

/** True when the bytes are at fault: a damaged database, or none at all. */
export function isDamagedDatabase(error: unknown): boolean {
  const own = isHansardError(error) ? error.cause : error
  const code = primaryCode(own)
  return (code !== undefined && DAMAGED.has(code)) || resultCode(own) === SHORT_READ
}

/** SQLite's result code: `errcode` in node:sqlite, `rawCode` in libsql. */
function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const codes: readonly unknown[] = [Reflect.get(error, 'errcode'), Reflect.get(error, 'rawCode')]
  return codes.find((code) => typeof code === 'number')
}

/** Its low byte, or what a name stands for in libsql. */
function primaryCode(error: unknown): number | undefined {
  const code = resultCode(error)
  if (code !== undefined) return code & 0xff
  if (typeof error !== 'object' || error === null) return undefined
  const named: unknown = Reflect.get(error, 'code')
  if (typeof named !== 'string') return undefined
  return NAMES.get(named.split('_').slice(0, 2).join('_'))
}
