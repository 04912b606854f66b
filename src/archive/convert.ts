/**
 * Conversion from any format to any: what was read goes through the model into the target's fold, one entry at a time. What
 * the target cannot hold, what it had to fill in, and damage in what was read are all told; nothing that stood at the target
 * is changed unless `force` says so.
 */
import { isAbsolute, join } from 'node:path'
import { HansardError, isHansardError } from '../errors.ts'
import type { Format, ReadItem, Writer, Writing } from '../formats/format.ts'
import type { Files } from '../journal/files.ts'
import type { Session } from '../transcript/session.ts'
import type { BlobReader } from '../transcript/source.ts'
import { VERSION } from '../version.ts'
import { resolveBlobs } from './blobs.ts'
import { createCarryOut, type CarryOut } from './carry-out.ts'
import { createLossLog, type LossLog } from './losses.ts'

export type ConvertOptions = {
  readonly target: Format
  /** Where the target's files go: it stands for the working directory, below which the format has its own folder. */
  readonly out: string
  /** What a first pass found: each session's last facts, and how many entries it has. */
  readonly sessions: readonly { readonly session: Session; readonly entries: number }[]
  readonly force?: boolean
  readonly blobs?: BlobReader
  readonly timeZone?: string
  readonly files?: Files
}

export type ConvertReport = {
  /** Absolute paths. */
  readonly written: readonly string[]
  readonly lost: LossLog
  readonly filled: LossLog
  /** Sessions that could not be written at all, when others could. */
  readonly failed: readonly { readonly session: string; readonly error: HansardError }[]
}

/** Reads the items once and writes each session as it comes. Throws when there is only one session and it cannot be written. */
export async function convertItems(
  items: AsyncIterable<readonly ReadItem[]>,
  options: ConvertOptions,
): Promise<ConvertReport> {
  const writer = writerOf(options.target)
  const lost = createLossLog()
  const filled = createLossLog()
  const failed: { session: string; error: HansardError }[] = []
  const written = new Set<string>()
  const facts = new Map(options.sessions.map((surveyed) => [surveyed.session.id, surveyed]))
  const open = new Map<string, Target>()
  const over = new Set<string>()
  /** Files of sessions that are still being written, so that two of them never choose one name. */
  const claimed = new Map<string, string>()

  const attempt = (id: string, step: () => void): void => {
    try {
      step()
    } catch (error) {
      open.get(id)?.abandon()
      open.delete(id)
      over.add(id)
      if (!isHansardError(error) || facts.size <= 1) throw error
      failed.push({ session: id, error })
    }
  }
  const openTarget = (given: Session): void => {
    const { session, entries } = facts.get(given.id) ?? { session: given, entries: Number.POSITIVE_INFINITY }
    if (open.has(session.id) || over.has(session.id)) return
    attempt(session.id, () => {
      const target = createTarget(writer, session, entries, { ...options, claimed, lost, filled })
      open.set(session.id, target)
      target.start()
      if (entries === 0) close(session.id, target)
    })
  }
  const close = (id: string, target: Target): void => {
    for (const path of target.finish()) written.add(path)
    open.delete(id)
    over.add(id)
    for (const [path, by] of claimed) if (by === id) claimed.delete(path)
  }

  let current = ''
  try {
    for await (const batch of items) {
      for (const item of batch) {
        if (item.type === 'session') {
          current = item.session.id
          openTarget(item.session)
          continue
        }
        if (item.type === 'damage') {
          lost.add(current, undefined, `damage (${item.damage.kind}): ${item.damage.reason}`)
          continue
        }
        const target = open.get(current)
        if (target === undefined) continue
        const entry = options.blobs ? await resolveBlobs(item.entry, options.blobs) : item.entry
        attempt(current, () => {
          if (target.entry(entry)) close(current, target)
        })
      }
    }
    for (const [id, target] of open) attempt(id, () => close(id, target))
  } finally {
    for (const target of open.values()) target.abandon()
  }
  return { written: [...written], lost, filled, failed }
}

/** Where a format's files go below a working directory. */
export function rootBelow(writer: Writer, out: string): string {
  return isAbsolute(writer.root) ? writer.root : join(out, writer.root)
}

function writerOf({ id, write }: Format): Writer {
  if (write !== undefined) return write
  throw new HansardError('format-read-only', `${id} is read and not written`, {
    hint: 'hansard formats says which formats are written',
  })
}

type Target = {
  start(): void
  /** True when that was the session's last entry. */
  entry(entry: Parameters<Writing['entry']>[0]): boolean
  finish(): readonly string[]
  abandon(): void
}

type TargetOptions = ConvertOptions & {
  readonly claimed: Map<string, string>
  readonly lost: LossLog
  readonly filled: LossLog
}

/** One session on its way into the target's files. */
function createTarget(writer: Writer, session: Session, entries: number, options: TargetOptions): Target {
  const { claimed, lost, filled, files, force, timeZone } = options
  const { id } = session
  const carry: CarryOut = createCarryOut({
    root: rootBelow(writer, options.out),
    way: 'staged',
    ignored: writer.ignored(session),
    ...(files && { files }),
    ...(force && { force }),
    onClaim: (path) => void claimed.set(path, id),
  })
  const writing = writer.begin(session, {
    // What is to be replaced is not in the way, except to the other sessions of this conversion.
    taken: (path) => (!force && carry.taken(path)) || (claimed.get(path) ?? id) !== id,
    lost: (entry, what) => lost.add(id, entry, what),
    filled: (entry, field) => filled.add(id, entry, field),
    version: VERSION,
    ...(timeZone !== undefined && { timeZone }),
  })
  let seen = 0
  return {
    start: () => carry.run(writing.start()),
    entry(entry) {
      seen += 1
      carry.run(writing.entry(entry))
      return seen === entries
    },
    finish() {
      carry.run(writing.end(session))
      return carry.finish()
    },
    abandon: () => carry.abandon(),
  }
}
