/** Whether a file that was made again holds all that stands in its place: only then may it take the name. */
import type { Files } from '../journal/files.ts'

const CHUNK_BYTES = 64 * 1024
const NEWLINE = 0x0a

/** Which of the old files the new one continues, by its place: the one it has most of, and of empty ones the last. */
export function findContinued(files: Files, old: readonly string[], now: string): number | undefined {
  let best: { readonly at: number; readonly length: number } | undefined
  for (const [at, path] of old.entries()) {
    const length = coveredLength(files, path, now)
    if (length !== undefined && length >= (best?.length ?? 0)) best = { at, length }
  }
  return best?.at
}

/**
 * How many bytes of the old file the new one begins with, when those are all of it but for a last line that was cut off;
 * undefined when it holds anything else, or is not there.
 */
function coveredLength(files: Files, old: string, now: string): number | undefined {
  if (files.kind(old) !== 'file') return undefined
  const before = files.openRead(old)
  const after = files.openRead(now)
  try {
    const one = Buffer.alloc(CHUNK_BYTES)
    const other = Buffer.alloc(CHUNK_BYTES)
    let same: number | undefined
    for (let at = 0; ;) {
      const length = files.read(before, one, at)
      if (length === 0) return same ?? at
      const chunk = one.subarray(0, length)
      let from = 0
      if (same === undefined) {
        from = commonLength(chunk, other.subarray(0, files.read(after, other, at)))
        if (from < length) same = at + from
      }
      if (chunk.includes(NEWLINE, from) && from < length) return undefined
      at += length
    }
  } finally {
    files.close(before)
    files.close(after)
  }
}

function commonLength(a: Buffer, b: Buffer): number {
  const length = Math.min(a.length, b.length)
  if (a.subarray(0, length).equals(b.subarray(0, length))) return length
  let at = 0
  while (a[at] === b[at]) at += 1
  return at
}

/** A document may be compressed or not: one of the two stands there. */
export function otherSpelling(path: string): string {
  return path.endsWith('.gz') ? path.slice(0, -3) : `${path}.gz`
}

/** Bytes of the content, uncompressed; 0 when there is none. gzip says it in its last four bytes. */
export function contentSize(path: string, bytes: Buffer | undefined): number {
  if (bytes === undefined) return 0
  return path.endsWith('.gz') && bytes.length >= 18 ? bytes.readUInt32LE(bytes.length - 4) : bytes.length
}
