/**
 * The append-only journal of one writer.
 *
 * Promise: once `append` says true, the record survives the death of this process; once its sync is done (at once with
 * `sync`, within 50 ms with `group`, at the next barrier with `os`), the death of the machine too. Start, end, `flush` and
 * `close` always sync. A failing disk never throws into the caller and never blocks it for long.
 */
import { setTimeout as setTimeoutLater } from 'node:timers/promises'
import type { Failure } from './failures.ts'
import { nodeFiles, type Files } from './files.ts'
import { toRecordJson } from './record-json.ts'
import type { JournalHead, JournalRecord } from './record.ts'
import type { Segment } from './segment.ts'
import { createSegments, type FirstRecord } from './segments.ts'
import { bootId, createWriterId } from './writer-id.ts'

export type Durability = 'os' | 'group' | 'sync'

export type { Failure } from './failures.ts'

export type JournalOptions = {
  readonly files?: Files
  readonly folder: string
  readonly durability?: Durability
  readonly first: FirstRecord
  readonly onFailure?: (report: Failure) => void
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Nanoseconds since the machine started. */
  readonly monotonic?: () => bigint
  readonly writer?: string
  readonly boot?: string
  /** How many bytes may wait while the disk takes nothing, and how many are kept until they are synced. */
  readonly holdBytes?: number
  /** How `close` waits between its last tries. */
  readonly pause?: (ms: number) => Promise<unknown>
}

export type JournalWriter = {
  /** The segment written now: another one after a failed sync. The folder, while none could be made. */
  readonly path: string
  /** True when the record is in the file (and, with `sync`, on the disk). False: it waits in memory, or is lost. */
  append(record: JournalRecord): boolean
  /** True when everything appended before is on the disk. */
  flush(): Promise<boolean>
  flushSync(): boolean
  /** The last line written. */
  head(): JournalHead
  /** Entries whose content is not, and will not be, in the journal. */
  lost(): number
  close(): Promise<boolean>
  closeSync(): boolean
}

const GROUP_MS = 50
const GROUP_BYTES = 256 * 1024
const HOLD_BYTES = 8 * 1024 * 1024
/** Somebody may remove or rename the live file: looked at this often, in microseconds, and at every barrier. */
const LOOK_EVERY = 1_000_000
/** A failed sync means another segment; a disk that fails this many is left for later. */
const ROUNDS = 3
const PATIENCE_MS = 10

export function openJournal(options: JournalOptions): JournalWriter {
  const { files = nodeFiles, folder, durability = 'group', first, onFailure } = options
  const { now = Date.now, monotonic = () => process.hrtime.bigint(), holdBytes = HOLD_BYTES } = options
  const { writer = createWriterId(), boot = bootId(), pause = setTimeoutLater } = options
  const micros = (): number => Math.floor(Number(monotonic()) / 1000)
  const instant = (): string => new Date(now()).toISOString()
  const segments = createSegments({
    files,
    folder,
    first,
    writer,
    boot,
    holdBytes,
    onFailure,
    instant,
    micros,
  })
  const { unsynced } = segments
  let looked = micros()
  let timer: NodeJS.Timeout | undefined
  let inFlight: Promise<boolean> | undefined
  let closed = false
  let refused = 0

  const syncNow = (): boolean => {
    for (let round = 0; round < ROUNDS; round += 1) {
      if (!segments.drain(true)) continue
      if (!segments.maySync()) return false
      const segment = segments.current()
      if (segment === undefined) continue
      try {
        segment.datasync()
        if (!isWhole(segment)) continue
        // An error may have been told to the sync in flight instead: that has the last word, while memory allows.
        if (inFlight === undefined || unsynced.bytes > holdBytes) unsynced.release(unsynced.size)
        else unsynced.cover()
        return true
      } catch (error) {
        distrust(error)
      }
    }
    return false
  }

  const syncLater = (segment: Segment): Promise<boolean> => {
    unsynced.cover()
    const result = new Promise<boolean>((resolve) => {
      segment.datasyncLater((error) => {
        inFlight = undefined
        const isCurrent = segment === segments.current()
        const isSafe = isCurrent && error === undefined && isWhole(segment)
        if (isSafe) unsynced.releaseCovered()
        if (isCurrent && error !== undefined) distrust(error)
        rearm()
        resolve(isSafe)
      })
    })
    inFlight = result
    return result
  }

  /** Before lines are let go for being synced, or written where nothing is: a kernel that says it wrote and did not is noticed while they can be written again. */
  const isWhole = (segment: Segment): boolean => {
    segments.look()
    if (segment === segments.current()) return true
    segments.drain(true)
    return false
  }

  const distrust = (error: unknown): void => {
    segments.distrust(error)
    segments.drain(true)
  }

  /** Asks for the next step, if one is due: a sync of what is written, another try with what waits. */
  const rearm = (): void => {
    if (timer !== undefined || closed) return
    const retry = segments.retryIn()
    if (retry !== undefined) timer = setTimeout(tick, Math.ceil(retry / 1000) + 1)
    else if (durability !== 'os' && unsynced.size > 0 && inFlight === undefined)
      timer = setTimeout(tick, GROUP_MS)
    timer?.unref()
  }

  const tick = (): void => {
    timer = undefined
    if (closed) return
    const isDue = segments.drain(false) && durability !== 'os' && inFlight === undefined && unsynced.size > 0
    const segment = isDue && segments.maySync() ? segments.current() : undefined
    if (segment !== undefined) void syncLater(segment)
    else if (!isDue) rearm()
  }

  /** What the level of durability asks for after a write. */
  const settle = (segment: Segment | undefined): boolean => {
    if (durability === 'sync') return syncNow()
    if (durability === 'os') {
      if (unsynced.bytes > GROUP_BYTES && (segment === undefined || isWhole(segment)))
        unsynced.release(Math.ceil(unsynced.size / 2))
      const isWritten = segments.waiting() === 0
      if (!isWritten) rearm()
      return isWritten
    }
    // Nothing comes back from a sync in flight while the caller never yields: then it is waited for here.
    if (unsynced.bytes > holdBytes && !syncNow()) unsynced.release(Math.ceil(unsynced.size / 2))
    if (inFlight !== undefined) return true
    if (unsynced.bytes >= GROUP_BYTES && segment !== undefined && segments.maySync()) void syncLater(segment)
    else rearm()
    return true
  }

  const flush = async (): Promise<boolean> => {
    segments.look()
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let busy = inFlight; busy !== undefined; busy = inFlight) await busy
      if (!segments.drain(true)) continue
      if (!segments.maySync()) return false
      const segment = segments.current()
      if (segment === undefined) continue
      if (!segment.isDirty() || (await syncLater(segment))) return true
    }
    rearm()
    return false
  }

  /** What still waits has its last chance: a disk that is back within a third of a second has everything. */
  const flushPatiently = async (): Promise<boolean> => {
    for (let ms = PATIENCE_MS; ms < 300; ms *= 2) {
      if ((await flush()) || segments.waiting() === 0) break
      await pause(ms)
    }
    return flush()
  }

  const flushSync = (): boolean => {
    segments.look()
    return syncNow()
  }

  const finish = (complete: boolean): boolean => {
    clearTimeout(timer)
    segments.end()
    return complete
  }

  let closing: Promise<boolean> | undefined
  if (!segments.drain(true)) segments.drain(true)

  return {
    get path() {
      return segments.path()
    },
    append(record) {
      if (closed) {
        refused += 1
        return false
      }
      const mt = micros()
      if (mt - looked >= LOOK_EVERY) {
        looked = mt
        segments.look()
      }
      if (!segments.take({ t: record.t, json: toRecordJson(record), mt })) {
        rearm()
        return false
      }
      return record.t === 'end' ? syncNow() : settle(segments.current())
    },
    flush,
    flushSync,
    head: () => segments.head(),
    lost: () => segments.lost() + refused,
    close() {
      closed = true
      closing ??= flushPatiently().then(finish)
      return closing
    },
    closeSync() {
      if (closed) return true
      closed = true
      return finish(flushSync())
    },
  }
}
