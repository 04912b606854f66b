/**
 * Content kept once, under the hash of its bytes: `blobs/ab/<sha256>`. A blob is whole and in place when `write` returns, and was
 * written or used again then: a blob nobody names is only waste, and one that is old and not named is nobody's.
 */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../errors.ts'
import { nodeFiles, writeWhole, type Files } from '../journal/files.ts'
import type { BlobRef } from '../transcript/block.ts'
import type { BlobReader } from '../transcript/source.ts'

export type Blobs = BlobReader & { write(bytes: Buffer, mediaType: string): BlobRef }

export function openBlobs(folder: string, files: Files = nodeFiles): Blobs {
  return {
    write(bytes, mediaType) {
      const hash = createHash('sha256').update(bytes).digest('hex')
      const shelf = join(folder, hash.slice(0, 2))
      if (!isKept(files, join(shelf, hash), bytes.length)) {
        files.makeFolder(shelf)
        files.syncFolder(folder)
        writeWhole(files, shelf, hash, bytes)
      }
      return { blob: `sha256:${hash}`, bytes: bytes.length, mediaType }
    },
    async read(blob) {
      const hash = NAME.exec(blob)?.[1]
      if (hash === undefined) return undefined
      try {
        const bytes = await readFile(join(folder, hash.slice(0, 2), hash), { flag: READ })
        return createHash('sha256').update(bytes).digest('hex') === hash ? bytes : undefined
      } catch (error) {
        if (GONE.has(systemCode(error) ?? '')) return undefined
        throw error
      }
    },
  }
}

/** Where in the archive a blob is; undefined for what is no blob's name. */
export function blobPath(blob: string): string | undefined {
  const hash = NAME.exec(blob)?.[1]
  return hash && `blobs/${hash.slice(0, 2)}/${hash}`
}

const NAME = /^sha256:([0-9a-f]{64})$/
const READ = fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0)
/** Nothing there, or something that is no blob. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES'])

/**
 * True when it is there and as young as if it were new. It is looked at after it was touched: `clean` takes a blob away before it
 * looks at its age, so that it either sees the touch or is seen.
 */
function isKept(files: Files, path: string, size: number): boolean {
  if (files.kind(path) !== 'file') return false
  try {
    files.touch(path)
  } catch {
    return false
  }
  return files.kind(path) === 'file' && files.identityAt(path)?.size === size
}
