/** What went wrong, in words a caller can branch on. Adding a code is a minor release; changing one is major. */
export type ErrorCode =
  | 'invalid-argument'
  | 'invalid-id'
  | 'not-found'
  | 'not-permitted'
  | 'session-not-found'
  | 'ambiguous-id'
  | 'unknown-format'
  | 'format-read-only'
  | 'not-a-transcript'
  | 'too-large'
  | 'output-exists'
  | 'unsafe-path'
  | 'disk-full'
  | 'read-only'
  | 'io'
  | 'locked'
  | 'archive-newer'
  | 'append-only'
  | 'run-not-found'
  | 'run-already-exists'
  | 'run-not-started'
  | 'run-already-ended'

type Options = { readonly hint?: string; readonly cause?: unknown }

/**
 * The only error this package throws on purpose. Anything else that escapes is a bug.
 *
 * `message` says what happened, lower case, with the thing named; `hint` says what to do about it.
 */
export class HansardError extends Error {
  override readonly name = 'HansardError'
  readonly code: ErrorCode
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, { hint, cause }: Options = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.hint = hint
  }
}

/** True for our errors even when two copies of the package are loaded, where `instanceof` is not. */
export function isHansardError(error: unknown): error is HansardError {
  return error instanceof Error && error.name === 'HansardError' && 'code' in error
}

/** The operating system's errors, in our words. Wrapped once, where the path is known. */
export function fromSystemError(error: unknown, what: string): HansardError {
  if (isHansardError(error)) return error
  const code = systemCode(error)
  const [ours, said, hint] = (code && SYSTEM[code]) || ['io', 'cannot be used', undefined]
  const detail = code ?? messageOf(error)
  return new HansardError(ours, `${what} ${said} (${detail})`, { cause: error, ...(hint && { hint }) })
}

/** Node's `err.code`, or undefined when it is not a system error. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** What anything that was thrown says, in words. Never throws, whatever it is. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof Error) return error.message
    if (typeof error === 'string') return error
    if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
    return JSON.stringify(error) ?? 'nothing was said'
  } catch {
    return 'something that cannot be shown'
  }
}

const SYSTEM: Readonly<Record<string, readonly [ErrorCode, string, string?]>> = {
  ENOENT: ['not-found', 'does not exist', 'check the path'],
  ENOTDIR: ['not-found', 'is not below a folder', 'check the path'],
  EACCES: ['not-permitted', 'may not be opened', 'check its owner and mode'],
  EPERM: ['not-permitted', 'may not be opened', 'check its owner and mode'],
  ENOSPC: ['disk-full', 'does not fit on the disk', 'free some space and run the command again'],
  EDQUOT: ['disk-full', 'does not fit in the quota', 'free some space and run the command again'],
  EROFS: ['read-only', 'is on a read-only file system', 'choose another place with --out or HANSARD_HOME'],
  ELOOP: ['unsafe-path', 'is a symbolic link', 'replace the link with a real file or folder'],
  EEXIST: ['output-exists', 'is already there', 'choose another place, or remove it first'],
  EISDIR: ['invalid-argument', 'is a folder', 'name a file'],
  ENAMETOOLONG: ['invalid-argument', 'has too long a name', 'use a shorter name'],
}
