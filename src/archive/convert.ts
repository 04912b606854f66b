/**
 * Conversion from any format to any: what was read goes through the model into the target's fold, one entry at a time. What
 * the target cannot hold, what it had to fill in, and damage in what was read are all told.
 *
 * Files are named as in an empty folder, whatever is there, so that converting again gives the same names and the same bytes:
 * then nothing is written. Where something else stands, nothing is written either, unless `force` says so.
 */
import { join } from 'node:path'
import { HansardError, isHansardError } from '../errors.ts'
import type { FileOperation, Format, ReadItem, Writer, Writing } from '../formats/format.ts'
import { nodeFiles } from '../journal/files.ts'
import { journal } from '../journal/format.ts'
import type { Session } from '../transcript/session.ts'
import { VERSION } from '../version.ts'
import { createCarryOut } from './carry-out.ts'
import { createLossLog, type LossLog } from './losses.ts'
import { openStaging, type Staging, type Update } from './staging.ts'

export type ConvertOptions = {
  readonly target: Format
  /** Where the target's files go: it stands for the working directory, below which the format has its own folder. */
  readonly out: string
  /** What a first pass found: each session's last facts, and how many entries it has. */
  readonly sessions: readonly { readonly session: Session; readonly entries: number }[]
  readonly force?: boolean
  readonly timeZone?: string
}

export type ConvertReport = {
  /** Absolute paths. */
  readonly written: readonly string[]
  /** Absolute paths of what was there already, the same. */
  readonly unchanged: readonly string[]
  readonly lost: LossLog
  readonly filled: LossLog
  /** Sessions that could not be written at all, when others could. */
  readonly failed: readonly { readonly session: string; readonly error: HansardError }[]
}

/** Reads the items once, with their content in place, and writes each session as it comes. Throws when there is only one session and it cannot be written. */
export async function convertItems(
  items: AsyncIterable<readonly ReadItem[]>,
  options: ConvertOptions,
): Promise<ConvertReport> {
  const writer = writerOf(options.target)
  const root = join(options.out, writer.root)
  const staging = openStaging(root)
  try {
    const { updates, superseded, ...told } = await stageAll(items, { ...options, writer, staging })
    if (options.target.id === journal.id) refuseDoubling(root, staging.paths())
    return { ...staging.place({ force: options.force === true, updates, superseded }), ...told }
  } catch (error) {
    throw staging.restate(error)
  } finally {
    staging.remove()
  }
}

function writerOf({ id, write }: Format): Writer {
  if (write !== undefined) return write
  throw new HansardError('format-read-only', `${id} is read and not written`, {
    hint: 'hansard formats says which formats are written',
  })
}

/** A session is all its segments together: a copy beside them would double every entry. */
function refuseDoubling(root: string, paths: readonly string[]): void {
  const own = new Set(paths)
  for (const folder of new Set(paths.map((path) => path.slice(0, path.lastIndexOf('/'))))) {
    const others = nodeFiles.list(join(root, folder)).filter((name) => !own.has(`${folder}/${name}`))
    if (!others.some((name) => /^journal-.+\.jsonl$/.test(name))) continue
    throw new HansardError('output-exists', `${join(root, folder)} holds the session already`, {
      hint: 'choose another folder with --out',
    })
  }
}

type StageOptions = ConvertOptions & { readonly writer: Writer; readonly staging: Staging }

type Staged = Pick<ConvertReport, 'lost' | 'filled' | 'failed'> & {
  readonly updates: readonly Update[]
  readonly superseded: readonly string[]
}

async function stageAll(items: AsyncIterable<readonly ReadItem[]>, options: StageOptions): Promise<Staged> {
  const lost = createLossLog()
  const filled = createLossLog()
  const failed: { session: string; error: HansardError }[] = []
  const updates: Update[] = []
  const superseded: string[] = []
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
      const told = options.staging.restate(error)
      if (!isHansardError(told) || facts.size <= 1) throw told
      failed.push({ session: id, error: told })
    }
  }
  const openTarget = (given: Session): void => {
    const { session, entries } = facts.get(given.id) ?? { session: given, entries: Number.POSITIVE_INFINITY }
    if (open.has(session.id) || over.has(session.id)) return
    attempt(session.id, () => {
      const target = createTarget(session, entries, { ...options, claimed, lost, filled })
      open.set(session.id, target)
      target.start()
      if (entries === 0) close(session.id, target)
    })
  }
  const close = (id: string, target: Target): void => {
    const finished = target.finish()
    updates.push(...finished.updates)
    superseded.push(...finished.superseded)
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
          const { kind, reason, file } = item.damage
          lost.add(current === '' ? file : current, undefined, `damage (${kind}): ${reason}`)
          continue
        }
        const target = open.get(current)
        if (target === undefined) continue
        attempt(current, () => {
          if (target.entry(item.entry)) close(current, target)
        })
      }
    }
    for (const [id, target] of open) attempt(id, () => close(id, target))
  } finally {
    for (const target of open.values()) target.abandon()
  }
  return { lost, filled, failed, updates, superseded }
}

type Target = {
  start(): void
  /** True when that was the session's last entry. */
  entry(entry: Parameters<Writing['entry']>[0]): boolean
  finish(): Pick<Staged, 'updates' | 'superseded'>
  abandon(): void
}

type TargetOptions = StageOptions & {
  readonly claimed: Map<string, string>
  readonly lost: LossLog
  readonly filled: LossLog
}

/** One session on its way into the target's files. */
function createTarget(session: Session, entries: number, options: TargetOptions): Target {
  const { writer, staging, claimed, lost, filled, timeZone } = options
  const { id } = session
  const own = new Set<string>()
  const updates: Update[] = []
  const superseded: string[] = []
  const carry = createCarryOut({
    root: staging.folder,
    way: 'staged',
    ignored: writer.ignored(session),
    onClaim: (path) => {
      own.add(path)
      claimed.set(path, id)
    },
  })
  const writing = writer.begin(session, {
    taken: (path) => carry.taken(path) || (claimed.get(path) ?? id) !== id,
    lost: (entry, what) => lost.add(id, entry, what),
    filled: (entry, field) => filled.add(id, entry, field),
    version: VERSION,
    ...(timeZone !== undefined && { timeZone }),
  })
  const run = (operations: readonly FileOperation[]): void => {
    for (const operation of operations) {
      // What concerns files that others wrote is done when everything is put in place.
      if (operation.op === 'update') updates.push(operation)
      else carry.run([operation])
      if (operation.op === 'remove') superseded.push(operation.path)
    }
  }
  let seen = 0
  return {
    start: () => run(writing.start()),
    entry(entry) {
      seen += 1
      run(writing.entry(entry))
      return seen === entries
    },
    finish() {
      run(writing.end(session))
      carry.finish()
      return { updates, superseded }
    },
    abandon() {
      carry.abandon()
      for (const path of own) {
        if (nodeFiles.kind(join(staging.folder, path)) === 'file')
          nodeFiles.remove(join(staging.folder, path))
      }
    },
  }
}
