/**
 * The sessions that a replay needs, by the id of one or of a run: the one that was named first, then those that the same run started.
 * What has a tape is found without the state: a replay in a test should begin at once.
 */
import { join } from 'node:path'
import { openArchive, type Archive } from '../archive/archive.ts'
import { readSession } from '../archive/read-session.ts'
import { HansardError, isHansardError } from '../errors.ts'
import type { ReadItem } from '../formats/format.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import { isSafeId, isUuid } from '../transcript/ids.ts'
import { TAPES } from '../wire/tape.ts'
import { openTape, type TapeFile } from './tape-file.ts'

export type RecordedSession = {
  readonly id: string
  readonly cwd?: string
  readonly agent?: string
  /** Of its recordings, those that have one. */
  readonly tapes: readonly TapeFile[]
  read(): AsyncIterable<readonly ReadItem[]>
}

export async function findRecorded(
  named: string,
  home: string | undefined,
): Promise<{ readonly archive: Archive; readonly sessions: readonly RecordedSession[] }> {
  const archive = openArchive(home)
  if (!isSafeId(named))
    throw new HansardError(
      'session-not-found',
      `no session is called ${JSON.stringify(named.slice(0, 80))}`,
      {
        hint: 'hansard list shows the sessions there are',
      },
    )
  const taped = findTaped(archive, named)
  if (taped !== undefined) return { archive, sessions: withRun(archive, taped) }
  return { archive, sessions: await findKnown(archive, named, home) }
}

/** A journal of that name that has a tape. */
function findTaped(archive: Archive, named: string): string | undefined {
  const matches = archive.ids().filter((id) => id === named || id.startsWith(named))
  const [only] = matches
  const id = matches.includes(named) ? named : matches.length === 1 ? only : undefined
  if (id === undefined) return undefined
  return hasTape(archive, id) ? id : undefined
}

function hasTape(archive: Archive, id: string): boolean {
  return archive.files.kind(join(archive.sessionFolder(id), TAPES)) === 'file'
}

/** One that only its agent's log has, or a run. */
async function findKnown(
  archive: Archive,
  named: string,
  home: string | undefined,
): Promise<readonly RecordedSession[]> {
  const { openSessions } = await import('../sources/sessions.ts')
  const sessions = await openSessions(home)
  try {
    const inRun = sessions.list({ run: named }).sessions
    const found = inRun.length > 0 ? inRun.map(({ id }) => sessions.find(id)) : [sessions.find(named)]
    // Two that the list has may be of one journal: an archive that was copied knows both places.
    const ids = new Set(found.flatMap((one) => sessions.journals(one)))
    const taped = [...ids].filter((id) => hasTape(archive, id))
    const [first] = taped
    if (first !== undefined) {
      const all = inRun.length > 0 ? [] : withRun(archive, first)
      const others = taped.filter((id) => all.every((one) => one.id !== id))
      return [...all, ...others.map((id) => ofJournal(archive, id))]
    }
    return found.map(({ id }) => ofLog(id, home))
  } catch (error) {
    if (!isHansardError(error) || error.code !== 'session-not-found') throw error
    throw new HansardError('session-not-found', `there is no session and no run ${named}`, {
      hint: `looked in the archive ${archive.home}; hansard list shows its sessions`,
    })
  } finally {
    sessions.close()
  }
}

function ofLog(id: string, home: string | undefined): RecordedSession {
  return {
    id,
    tapes: [],
    async *read() {
      const { openSessions } = await import('../sources/sessions.ts')
      const sessions = await openSessions(home)
      try {
        yield* sessions.read(sessions.find(id))
      } finally {
        sessions.close()
      }
    },
  }
}

function ofJournal(archive: Archive, id: string): RecordedSession {
  const tape = openTape(archive.files, archive.sessionFolder(id))
  const { cwd, agent } = headOf(archive, id)
  return {
    id,
    ...(cwd !== undefined && { cwd }),
    ...(agent !== undefined && { agent }),
    tapes: tape === undefined ? [] : [tape],
    read: () => readSession(archive, id),
  }
}

/** A day before and after: what one `hansard run` started. */
const NEAR_MS = 24 * 3600 * 1000
const MOST_NEAR = 500

function withRun(archive: Archive, id: string): readonly RecordedSession[] {
  const own = headOf(archive, id)
  const at = timeOf(id)
  const near = archive
    .ids()
    .filter((one) => one !== id && at !== undefined && Math.abs((timeOf(one) ?? 0) - at) < NEAR_MS)
    .slice(0, MOST_NEAR)
  const others = own.run === undefined ? [] : near.filter((one) => headOf(archive, one).run === own.run)
  return [id, ...others.toReversed()].map((one) => ofJournal(archive, one))
}

/** Recorded ids begin with when that was. */
export function timeOf(id: string): number | undefined {
  return isUuid(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined
}

const HEAD_BYTES = 64 * 1024

/** What the first line of its journal says; nothing where that cannot be read. */
function headOf(
  archive: Archive,
  id: string,
): { readonly run?: string; readonly cwd?: string; readonly agent?: string } {
  const [path] = archive.segments(id)
  if (path === undefined) return {}
  const fd = archive.files.openRead(path)
  try {
    const bytes = Buffer.alloc(HEAD_BYTES)
    const text = bytes.toString('utf8', 0, archive.files.read(fd, bytes, 0))
    const session = asObject(asObject(parseJson(text.split('\n', 1)[0] ?? ''))?.['session'])
    const run = asString(asObject(session?.['run'])?.['id'])
    const [cwd, agent] = [asString(session?.['cwd']), asString(session?.['agent'])]
    return {
      ...(run !== undefined && { run }),
      ...(cwd !== undefined && { cwd }),
      ...(agent !== undefined && { agent }),
    }
  } finally {
    archive.files.close(fd)
  }
}
