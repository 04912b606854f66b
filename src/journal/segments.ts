/**
 * A journal's lines, in one trusted file after another. A line is written, or waits in bounded memory until the disk takes it;
 * a file that failed is given up, and its unsynced lines are written again to the next one, which says after which line it
 * continues. Nothing here throws: a failure is reported once, counted, and marked in the journal by a `gap`.
 */
import { systemCode } from '../errors.ts'
import { createFailures, type Failure } from './failures.ts'
import { ensureFolder, type Files } from './files.ts'
import { createUnsynced, createWaiting, type HeldLine, type Unsynced } from './held.ts'
import { createLineEncoder, NO_HASH } from './line.ts'
import { toRecordJson } from './record-json.ts'
import type { JournalHead, JournalRecord } from './record.ts'
import { openSegment, type Segment } from './segment.ts'

export type FirstRecord = Omit<Extract<JournalRecord, { t: 'session' }>, 't' | 'writer' | 'boot' | 'at'>

export type SegmentsOptions = {
  readonly files: Files
  readonly folder: string
  readonly first: FirstRecord
  readonly writer: string
  readonly boot: string
  readonly holdBytes: number
  readonly onFailure: ((report: Failure) => void) | undefined
  readonly instant: () => string
  /** Monotonic microseconds. */
  readonly micros: () => number
}

export type Segments = {
  readonly unsynced: Unsynced
  current(): Segment | undefined
  path(): string
  head(): JournalHead
  lost(): number
  waiting(): number
  /** When to try again, in microseconds from now; undefined when nothing waits. */
  retryIn(): number | undefined
  /** True when the line, and all before it, are in the file. */
  take(line: HeldLine): boolean
  /** Writes what waits; with `force` also before its time. False while the disk does not take it. */
  drain(force: boolean): boolean
  /** The current file cannot be trusted: its sync failed. */
  distrust(error: unknown): void
  /** False on a disk that syncs nothing, where lines are only written. Tries again, in a new file, as the backoff allows. */
  maySync(): boolean
  /** Notices a file that was removed, renamed or cut behind our back. */
  look(): void
  /** Gives up what waits, and closes the file. */
  end(): void
}

/** A disk that fails this many first syncs in a row is written to without. */
const SYNCS = 2
/** How long it is then left alone, in microseconds. */
const SYNC_AGAIN = 60_000_000
/** What a file system says that cannot sync at all. */
const UNSUPPORTED = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])
/** Names that are taken, perhaps planted, are left alone and the next is tried, this many times. */
const NAMES = 16

/** A full disk leaves the file as good as it was. Any other failed write makes it suspect. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EINTR', 'EAGAIN'])

export function createSegments(options: SegmentsOptions): Segments {
  const { files, folder, first, writer, boot, instant, micros, onFailure } = options
  const encoder = createLineEncoder()
  const waiting = createWaiting(options.holdBytes)
  let continues = first.continues
  let head: JournalHead = { writer, seq: -1, h: continues?.h ?? NO_HASH }
  const unsynced = createUnsynced(head)
  let segment: Segment | undefined
  let path = folder
  let names = 0
  let gap: { readonly reason: string; readonly lost: number } | undefined
  let lost = 0
  /** First syncs that failed in a row. */
  let unsyncable = 0
  /** When a file that could not be synced is given up for another, which perhaps can. */
  let syncAgain = Number.POSITIVE_INFINITY

  const failures = createFailures({ onFailure, micros, state: () => ({ path, held: waiting.size, lost }) })

  const note = (reason: string, count: number): void => {
    lost += count
    gap = { reason: gap?.reason ?? reason, lost: (gap?.lost ?? 0) + count }
  }

  const countDropped = (): void => {
    const count = waiting.takeLost()
    if (count > 0) note('the disk took no more and memory is bounded', count)
  }

  /** `gone`: the file is not there any more, and what was safe in it is lost with it. */
  const abandon = (reason: string, gone: boolean): void => {
    segment = undefined
    continues = unsynced.base()
    note(reason, gone ? Math.max(0, continues.seq) : 0)
    waiting.putBack(unsynced.take(), !gone)
    countDropped()
  }

  const write = (own: Segment, line: HeldLine): void => {
    own.write(line.json, line.mt)
    head = own.head()
    unsynced.add(line, head)
  }

  const writeFailed = (error: unknown): void => {
    const code = systemCode(error)
    if (segment !== undefined && (segment.isBroken() || code === undefined || !FULL.has(code))) {
      const old = segment
      abandon(`a write failed (${code ?? 'unknown'})`, false)
      old.close()
    }
    failures.fail(error)
  }

  const openNext = (): Segment => {
    ensureFolder(files, folder)
    const opened = openNamed()
    try {
      opened.write(toRecordJson(header(opened.writer)), micros())
      syncFirst(opened)
    } catch (error) {
      // It holds nothing yet; left there, a long outage would leave thousands.
      removeQuietly(files, opened.path)
      opened.close()
      throw error
    }
    names += 1
    segment = opened
    path = opened.path
    head = opened.head()
    unsynced.begin(head)
    return opened
  }

  /** A record that may be lost with the power is worth more than none: where no sync succeeds, it is done without. */
  const syncFirst = (opened: Segment): void => {
    try {
      opened.datasync()
      files.syncFolder(folder)
      unsyncable = 0
      syncAgain = Number.POSITIVE_INFINITY
    } catch (error) {
      const isUnsupported = UNSUPPORTED.has(systemCode(error) ?? '')
      unsyncable = isUnsupported ? SYNCS : unsyncable + 1
      if (unsyncable < SYNCS) throw error
      syncAgain = isUnsupported ? Number.POSITIVE_INFINITY : micros() + SYNC_AGAIN
      failures.report(error)
    }
  }

  const openNamed = (): Segment => {
    for (let tries = 1; ; tries += 1) {
      const own = names === 0 ? writer : `${writer}.${names}`
      try {
        return openSegment({ files, folder, writer: own, start: continues?.h ?? NO_HASH, encoder })
      } catch (error) {
        if (systemCode(error) !== 'EEXIST' || tries === NAMES) throw error
        names += 1
      }
    }
  }

  const header = (own: string): JournalRecord => {
    const { continues: _, ...facts } = first
    return { t: 'session', ...facts, writer: own, boot, at: instant(), ...(continues && { continues }) }
  }

  const drain = (force: boolean): boolean => {
    if (segment !== undefined && waiting.size === 0 && gap === undefined) return true
    if (!force && failures.wait() > 0) return false
    try {
      const own = segment ?? openNext()
      if (gap !== undefined) {
        write(own, { t: 'gap', json: toRecordJson({ t: 'gap', ...gap, at: instant() }), mt: micros() })
        gap = undefined
      }
      for (let line = waiting.first(); line !== undefined; line = waiting.first()) {
        write(own, line)
        waiting.shift()
      }
    } catch (error) {
      writeFailed(error)
      return false
    }
    if (unsyncable === 0) failures.resume()
    return true
  }

  return {
    unsynced,
    current: () => segment,
    path: () => path,
    head: () => head,
    lost: () => lost,
    waiting: () => waiting.size,
    retryIn: () => (waiting.size === 0 ? undefined : failures.wait()),
    take(line) {
      let isFirstFailure = false
      if (segment !== undefined && waiting.size === 0) {
        try {
          write(segment, line)
          return true
        } catch (error) {
          writeFailed(error)
          isFirstFailure = true
        }
      }
      waiting.push(line)
      countDropped()
      // The first failure may be the file's alone: another one is tried at once, and then only as the backoff allows.
      return drain(isFirstFailure)
    },
    drain,
    distrust(error) {
      segment?.close()
      abandon(`a sync failed (${systemCode(error) ?? 'unknown'})`, false)
      failures.fail(error)
    },
    maySync() {
      if (unsyncable < SYNCS) return true
      if (micros() < syncAgain) return false
      segment?.close()
      abandon('no sync succeeded', false)
      return drain(true) && unsyncable < SYNCS
    },
    look() {
      try {
        const trouble = segment?.trouble()
        if (segment === undefined || trouble === undefined) return
        const old = segment
        abandon(trouble.reason, trouble.gone)
        old.close()
        failures.report(new Error(trouble.reason))
      } catch {
        // Could not be looked at now; the next write or sync will say.
      }
    },
    end() {
      for (let line = waiting.first(); line !== undefined; line = waiting.first()) {
        if (line.t === 'entry' && line.isCopy !== true) lost += 1
        waiting.shift()
      }
      segment?.close()
      segment = undefined
    },
  }
}

function removeQuietly(files: Files, path: string): void {
  try {
    files.remove(path)
  } catch {
    // An empty file stays behind; readers take it for what it is.
  }
}
