/** `hansard clean`: what retention would delete, and with `--delete` the deletion; with `--pack`, old kept files made smaller. */
import { openArchive, type Archive } from '../../archive/archive.ts'
import { deleteSession, findExpired, sweepBlobs, type Expired } from '../../archive/clean.ts'
import { packCold } from '../../archive/kept-cold.ts'
import { acquireLock } from '../../archive/lock.ts'
import { toBytes } from '../../replay/amounts.ts'
import { counted } from '../../transcript/counted.ts'
import { createClock } from '../../replay/clock.ts'
import { visibleLine } from '../../replay/escape.ts'
import { outlineFolder, outlineName, removeOutline } from '../../search/outline-files.ts'
import { deleteKept, findExpiredKept } from '../../sources/clean-kept.ts'
import { keyOf } from '../../sources/session-facts.ts'
import { fromMillis } from '../../transcript/instant.ts'
import { loadConfig } from '../config.ts'
import { FAILED, note, out, outJson } from '../print.ts'
import { createProgress } from '../progress.ts'
import { toTable, type Column } from '../table.ts'

export type CleanOptions = {
  /** In milliseconds. */
  readonly olderThan: number
  readonly delete?: boolean
  readonly pack?: boolean
  readonly home?: string
  readonly json?: boolean
}

export async function clean(options: CleanOptions): Promise<void> {
  if (options.pack === true) return pack(options)
  const { home } = await loadConfig(options)
  const really = options.delete === true
  const archive = openArchive(home, { write: really })
  const now = Date.now()
  const at = fromMillis(now) as string
  const before = fromMillis(now - options.olderThan) ?? ''
  const recorded = await cleanRecorded(archive, { before, at, now, really })
  const kept = await findExpiredKept(archive, before)
  if (really)
    await deleteKept(
      archive,
      kept.map(({ session }) => session.id),
      { at, reason: 'clean' },
    )
  const expired = [...recorded.expired, ...kept]
  if (really) removeOutlines(archive.home, expired)
  if (options.json) await printJson(expired, recorded.swept, really)
  else await printText(expired, recorded.swept, really)
}

/** Derived, but with what they said in it. */
function removeOutlines(home: string, sessions: readonly Expired[]): void {
  const folder = outlineFolder(home)
  for (const { session } of sessions) {
    const keys = [session.id, ...(session.native ? [keyOf(session, undefined)] : [])]
    for (const key of keys) removeOutline({ folder, name: outlineName(key) })
  }
}

/** Deletes nothing. */
async function pack(options: CleanOptions): Promise<void> {
  const { home } = await loadConfig(options)
  const before = fromMillis(Date.now() - options.olderThan) ?? ''
  const progress = createProgress()
  const onProblem = (path: string, reason: string): void => {
    process.exitCode = FAILED
    note(`hansard: ${visibleLine(path)} cannot be packed and stays as it is: ${visibleLine(reason)}`)
  }
  const packed = await packCold(openArchive(home, { write: true }), before, onProblem, (step) =>
    progress.show({ doing: 'packing', ...step }),
  )
  progress.end()
  const { files, bytes, saved } = packed
  if (options.json) await outJson({ packed })
  else note(`packed ${counted(files, 'file')} of ${toBytes(bytes)}: ${toBytes(saved)} saved`)
}

type CleanRecorded = {
  readonly before: string
  readonly at: string
  readonly now: number
  readonly really: boolean
}

async function cleanRecorded(archive: Archive, { before, at, now, really }: CleanRecorded) {
  const release = really ? acquireLock(archive.files, archive.home) : () => {}
  try {
    let unreadable = 0
    const expired = await findExpired(archive, before, (id, error) => {
      unreadable += 1
      process.exitCode = FAILED
      note(`hansard: ${id} cannot be read and stays: ${error.message}`)
    })
    if (really) for (const { session } of expired) deleteSession(archive, session.id, { at, reason: 'clean' })
    const without = new Set(expired.map(({ session }) => session.id))
    // A session that cannot be read may name any blob: then none is taken for unused.
    const swept =
      unreadable > 0 ? { blobs: 0, bytes: 0 } : await sweepBlobs(archive, { without, remove: really, now })
    return { expired, swept }
  } finally {
    release()
  }
}

type Swept = Awaited<ReturnType<typeof sweepBlobs>>

async function printJson(expired: readonly Expired[], blobs: Swept, deleted: boolean): Promise<void> {
  const sessions = expired.map(({ session: { id, title, status }, lastAt, bytes }) => ({
    id,
    title,
    status,
    lastAt,
    bytes,
  }))
  await outJson({ sessions, blobs, deleted })
}

const COLUMNS: readonly Column[] = [
  { name: 'SESSION', least: 13, cutLast: true },
  { name: 'LAST HEARD OF', rank: 1 },
  { name: 'SIZE', align: 'right' },
  { name: 'WHAT' },
]

async function printText(expired: readonly Expired[], swept: Swept, deleted: boolean): Promise<void> {
  const clock = createClock()
  if (expired.length > 0) {
    const rows = expired.map(({ session: { id, title = '' }, lastAt, bytes }) => [
      id,
      clock.date(lastAt),
      toBytes(bytes),
      title,
    ])
    await out(toTable(COLUMNS, rows))
  }
  const bytes = expired.reduce((sum, one) => sum + one.bytes, swept.bytes)
  const what = `${counted(expired.length, 'session')} and ${counted(swept.blobs, 'blob')}, ${toBytes(bytes)}`
  if (deleted) note(`deleted ${what}`)
  else note(`would delete ${what}; nothing is deleted without --delete`)
}
