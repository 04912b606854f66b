/**
 * One journal file while it is written: one buffer, one write, and after a failed one the file ends at its last whole line
 * again. Calls throw system errors; after one, `isBroken` says whether the file may still be written to.
 */
import { join } from 'node:path'
import { systemCode } from '../errors.ts'
import type { Files } from './files.ts'
import type { LineEncoder } from './line.ts'
import type { JournalHead } from './record.ts'

export type Segment = {
  readonly writer: string
  readonly path: string
  write(json: string, mt: number): void
  /** The last line written; before the first, the place before it. */
  head(): JournalHead
  isBroken(): boolean
  /** True when something was written that no sync has begun to cover. */
  isDirty(): boolean
  datasync(): void
  datasyncLater(done: (error: Error | undefined) => void): void
  /** What somebody did to the file behind our back, in words; undefined when it is where and as long as we left it. */
  trouble(): Trouble | undefined
  /** Never throws; waits for a sync in flight. */
  close(): void
}

/** `gone`: what the file held went with it. */
export type Trouble = { readonly reason: string; readonly gone: boolean }

/** EINTR and EAGAIN are no answer: the same call again, this many times. */
const TRIES = 8

export function segmentName(writer: string): string {
  return `journal-${writer}.jsonl`
}

type Options = {
  readonly files: Files
  readonly folder: string
  readonly writer: string
  /** The hash that the first line stands on. */
  readonly start: string
  readonly encoder: LineEncoder
}

/** Creates the file; throws EEXIST when anything has that name. */
export function openSegment({ files, folder, writer, start, encoder }: Options): Segment {
  const path = join(folder, segmentName(writer))
  const fd = again(() => files.openAppend(path, 'new'))
  let seq = -1
  let h = start
  let size = 0
  /** What was there when it was last looked at. */
  let seen = Number.POSITIVE_INFINITY
  let broken = false
  let dirty = false
  let closed = false
  /** Syncs in flight, which still use the descriptor: closed under them, its number could become another file's. */
  let busy = 0

  const closeNow = (): void => {
    try {
      files.close(fd)
    } catch {
      // Whatever mattered was synced before, or is written again elsewhere.
    }
  }

  /** Leaves no part of a line behind. Where that fails too, nothing may follow the part. */
  const cutBack = (): void => {
    try {
      again(() => {
        if (files.size(fd) > size) files.truncate(fd, size)
      })
    } catch {
      broken = true
    }
  }

  return {
    writer,
    path,
    write(json, mt) {
      const length = encoder.encode(json, { seq: seq + 1, mt, p: h })
      const next = encoder.hash()
      let wrote = 0
      try {
        // A full disk writes short first and says ENOSPC on the next call.
        for (let tries = 0; wrote !== length && tries < 2; tries += 1) {
          if (wrote > 0) cutBack()
          if (broken) break
          wrote = again(() => files.write(fd, encoder.bytes(), 0, length))
        }
      } catch (error) {
        cutBack()
        throw error
      }
      if (wrote !== length) {
        cutBack()
        throw systemError('ENOSPC', `${wrote} of ${length} bytes written, '${path}'`)
      }
      dirty = true
      seq += 1
      h = next
      size += length
    },
    head: () => ({ writer, seq, h }),
    isBroken: () => broken,
    isDirty: () => dirty,
    datasync() {
      again(() => files.datasync(fd))
      dirty = false
    },
    datasyncLater(done) {
      dirty = false
      busy += 1
      const attempt = (tries: number): void =>
        files.datasyncLater(fd, (error) => {
          if (error !== null && isTransient(error) && tries < TRIES) {
            attempt(tries + 1)
            return
          }
          busy -= 1
          if (closed && busy === 0) closeNow()
          done(error ?? undefined)
        })
      attempt(1)
    },
    trouble() {
      const own = files.identity(fd)
      const there = files.identityAt(path)
      if (own.links === 0) return { reason: 'the journal was removed while recording', gone: true }
      if (there === undefined || there.ino !== own.ino || there.dev !== own.dev)
        return { reason: 'the journal was renamed or replaced while recording', gone: false }
      // Shorter than it was, somebody cut it; else a write that was said to be done was not, and what was there before it still is.
      if (own.size < size)
        return { reason: 'the journal is shorter than what was written', gone: own.size < seen }
      seen = size
      return undefined
    },
    close() {
      if (closed) return
      closed = true
      if (busy === 0) closeNow()
    },
  }
}

export function systemError(code: string, said: string): Error {
  return Object.assign(new Error(`${code}: ${said}`), { code })
}

function again<T>(call: () => T): T {
  for (let tries = 1; ; tries += 1) {
    try {
      return call()
    } catch (error) {
      if (!isTransient(error) || tries === TRIES) throw error
    }
  }
}

function isTransient(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'EINTR' || code === 'EAGAIN'
}
