/** An agent's settings on disk: read whole, and replaced whole, keeping mode, owner and the links that lead to them. */
import { isUtf8 } from 'node:buffer'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fromSystemError, HansardError, systemCode } from '../../errors.ts'
import { unreadable } from './json-hooks.ts'

/** What is larger is no settings. */
const MAX_BYTES = 4 * 1024 * 1024

export type SettingsFile = {
  /** As it was named. */
  readonly path: string
  /** Where links lead. */
  readonly real: string
  /** Undefined where there is none. */
  readonly text: string | undefined
}

export function readSettingsFile(path: string): SettingsFile {
  const real = realPath(path)
  let bytes: Buffer
  try {
    const stat = fs.statSync(real, { throwIfNoEntry: false })
    if (stat === undefined) return { path, real, text: undefined }
    if (!stat.isFile()) throw unreadable(path, 'it is no file')
    if (stat.size > MAX_BYTES) throw unreadable(path, `it is over ${MAX_BYTES} bytes`)
    bytes = fs.readFileSync(real)
  } catch (error) {
    throw fromSystemError(error, path)
  }
  if (!isUtf8(bytes)) throw unreadable(path, 'it is no UTF-8')
  return { path, real, text: bytes.toString('utf8') }
}

/** A link whose end is not there yet counts too: people keep settings elsewhere. */
function realPath(path: string, hops = 0): string {
  try {
    return fs.realpathSync(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw fromSystemError(error, path)
  }
  const link = readLink(path)
  if (link === undefined || hops > 40) return path
  return realPath(link.startsWith('/') ? link : join(dirname(path), link), hops + 1)
}

function readLink(path: string): string | undefined {
  try {
    return fs.readlinkSync(path)
  } catch {
    return undefined
  }
}

/** Folders that were made for it, the innermost first. Throws when the file is no longer as it was read. */
export function writeSettingsFile(file: SettingsFile, text: string | undefined): readonly string[] {
  const { path, real } = file
  if (readSettingsFile(path).text !== file.text)
    throw new HansardError('output-exists', `${path} was changed meanwhile, and is left as it is`, {
      hint: 'run the command again',
    })
  try {
    if (text === undefined) {
      fs.rmSync(real, { force: true })
      return []
    }
    const made = makeFolder(dirname(real))
    replace(real, text)
    return made
  } catch (error) {
    throw fromSystemError(error, path)
  }
}

function makeFolder(folder: string): readonly string[] {
  const made: string[] = []
  for (let at = folder; !fs.existsSync(at) && dirname(at) !== at; at = dirname(at)) made.push(at)
  fs.mkdirSync(folder, { recursive: true })
  return made
}

function replace(real: string, text: string): void {
  const stat = fs.statSync(real, { throwIfNoEntry: false })
  const temporary = `${real}.${process.pid}.hansard`
  const fd = fs.openSync(temporary, 'wx', stat?.mode ?? 0o644)
  try {
    try {
      fs.writeFileSync(fd, text)
      if (stat !== undefined) {
        fs.fchmodSync(fd, stat.mode)
        keepOwner(fd, stat)
      }
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(temporary, real)
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(real))
}

/** Somebody else's file, changed by root, stays theirs. */
function keepOwner(fd: number, { uid, gid }: fs.Stats): void {
  const now = fs.fstatSync(fd)
  if (now.uid === uid && now.gid === gid) return
  try {
    fs.fchownSync(fd, uid, gid)
  } catch {
    // Only root may give files away.
  }
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const fd = fs.openSync(folder, 'r')
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}
