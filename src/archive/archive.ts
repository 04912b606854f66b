/**
 * The archive: the folder that holds journals, kept files, blobs and tombstones. Everything in it can be read without us; what
 * we add is finding a session by its id and reading its segments as one.
 *
 * `$HANSARD_HOME`, by default `~/.hansard`. Files 0600, folders 0700. A layout newer than we know is read and never written.
 */
import { randomBytes } from 'node:crypto'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { HansardError, fromSystemError } from '../errors.ts'
import { createWhole, nodeFiles, writeWhole, type Files } from '../journal/files.ts'
import { checkId, isSafeId } from '../transcript/ids.ts'
import { asNumber, asObject, parseJson } from '../transcript/json.ts'
import { openBlobs, type Blobs } from './blob-store.ts'
import { readWholeFile } from './bytes.ts'
import { removeStale } from './lock.ts'
import { readSecret, warnOfSecret } from './secret-file.ts'
import { setAside } from './set-aside.ts'

export const LAYOUT = 1

export type Archive = {
  readonly home: string
  readonly files: Files
  readonly blobs: Blobs
  /** True when the layout is newer than ours: nothing may be written. */
  readonly readOnly: boolean
  /** Every session's id, newest first: recorded ids sort by time. */
  ids(): readonly string[]
  /** The one session whose id is this or begins so. Throws `session-not-found` or `ambiguous-id`. */
  find(idOrPrefix: string): string
  sessionFolder(id: string): string
  /** The journal segments of a session, by path. */
  segments(id: string): readonly string[]
  /** Keeps placeholders stable within this archive and meaningless outside it. */
  redactionKey(): Buffer
}

type Options = {
  /** Make the archive when it is not there, and refuse one that is newer than we know. */
  readonly write?: boolean
  readonly files?: Files
  /** With it, an archive that cannot be made is reported here instead of thrown: a recorder goes on without. */
  readonly onFailure?: (failure: { readonly what: string; readonly error: unknown }) => void
}

export function openArchive(home: string = defaultHome(), options: Options = {}): Archive {
  const { files = nodeFiles, write = false, onFailure } = options
  const root = resolve(home)
  for (const name of FOLDERS) if (files.kind(join(root, name)) === 'link') throw isLink(join(root, name))
  const layout = readLayout(files, root)
  const readOnly = layout !== undefined && layout > LAYOUT
  if (write && readOnly) throw newer(root, layout)
  if (write && layout === undefined) {
    try {
      makeArchive(files, root)
    } catch (error) {
      const failure = fromSystemError(error, root)
      if (onFailure === undefined) throw failure
      onFailure({ what: 'the archive', error: failure })
    }
  }
  const sessions = join(root, 'sessions')
  const sessionFolder = (id: string): string => join(sessions, checkId(id, 'session id'))
  const segments = (id: string): readonly string[] => {
    const folder = sessionFolder(id)
    // A link planted for a session would have us read, repair or delete somewhere else.
    if (files.kind(folder) === 'link') throw isLink(folder)
    const names = files.list(folder).filter((name) => /^journal-.+\.jsonl$/.test(name))
    return names.sort().map((name) => join(folder, name))
  }
  const ids = (): readonly string[] => files.list(sessions).filter(isSafeId).sort().toReversed()

  return {
    home: root,
    files,
    blobs: openBlobs(join(root, 'blobs'), files),
    readOnly,
    ids,
    find: (idOrPrefix) => findId(ids(), idOrPrefix, root),
    sessionFolder,
    segments,
    redactionKey: () => openKey(files, root),
  }
}

export function defaultHome(): string {
  return process.env['HANSARD_HOME'] || join(homedir(), '.hansard')
}

function readLayout(files: Files, home: string): number | undefined {
  const text = readWholeFile(files, join(home, 'archive.json'))
  if (text === undefined) return undefined
  return asNumber(asObject(parseJson(text.toString('utf8')))?.['layout']) ?? LAYOUT
}

function makeArchive(files: Files, home: string): void {
  if (files.kind(home) === undefined) files.makeFolder(home)
  for (const name of FOLDERS) files.makeFolder(join(home, name))
  writeWhole(files, home, 'archive.json', Buffer.from(`${JSON.stringify({ layout: LAYOUT })}\n`))
}

/** The archive itself may be behind a link; what is in it may not. */
const FOLDERS = ['sessions', 'kept', 'blobs'] as const

function isLink(path: string): HansardError {
  return new HansardError(
    'unsafe-path',
    `${path} is a symbolic link, and nothing in an archive is read or written through one`,
    {
      hint: 'replace it by what it points to, or link the archive as a whole',
    },
  )
}

function newer(home: string, layout: number | undefined): HansardError {
  return new HansardError('archive-newer', `the archive ${home} has layout ${layout}, newer than ${LAYOUT}`, {
    hint: 'update hansard, or name another archive with HANSARD_HOME',
  })
}

function findId(ids: readonly string[], idOrPrefix: string, home: string): string {
  checkId(idOrPrefix, 'session id')
  if (ids.includes(idOrPrefix)) return idOrPrefix
  const matches = ids.filter((id) => id.startsWith(idOrPrefix))
  if (matches.length === 1) return matches[0] as string
  if (matches.length === 0) {
    throw new HansardError('session-not-found', `no session ${JSON.stringify(idOrPrefix)} in ${home}`, {
      hint: 'hansard list shows the sessions there are',
    })
  }
  throw new HansardError(
    'ambiguous-id',
    `${matches.length} sessions begin with ${JSON.stringify(idOrPrefix)}`,
    {
      hint: `give more of the id: ${matches.slice(0, 3).join(', ')}`,
    },
  )
}

const KEY_NAME = 'redaction.key'
const KEY_BYTES = 32

/** The key is made by whoever needs it first; when it cannot be kept, placeholders are stable for this process only. */
function openKey(files: Files, home: string): Buffer {
  const path = join(home, KEY_NAME)
  const known = readKey(files, home)
  if (Buffer.isBuffer(known)) return known
  const made = randomBytes(KEY_BYTES)
  try {
    if (known === 'refused') {
      warnOfSecret(home, KEY_NAME)
      setAside(files, [path])
    }
    // No placeholder was ever made with a key that a crash cut short.
    if (isCutShort(files, path)) removeStale(files, path, () => isCutShort(files, path))
    if (files.kind(path) === undefined) createWhole(files, home, KEY_NAME, made)
  } catch {
    // Not kept, or not known to be: what is there now decides.
  }
  const kept = readKey(files, home)
  return Buffer.isBuffer(kept) ? kept : made
}

function readKey(files: Files, home: string): Buffer | 'refused' | undefined {
  try {
    const secret = readSecret(files, home, KEY_NAME)
    if (secret?.bytes.length !== KEY_BYTES) return undefined
    return secret.isOwn && isRandom(secret.bytes) ? secret.bytes : 'refused'
  } catch {
    return undefined
  }
}

/** Zeros, and the like, are nobody's key: 32 random bytes are of some thirty kinds. */
const isRandom = (key: Buffer): boolean => new Set(key).size > 8

function isCutShort(files: Files, path: string): boolean {
  const size = files.kind(path) === 'file' ? files.identityAt(path)?.size : undefined
  return size !== undefined && size < KEY_BYTES
}
