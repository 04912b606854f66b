/** The files of a session's live formats again from its journal, by the same folds under the same names. */
import { dirname, join, resolve } from 'node:path'
import { HansardError, messageOf } from '../errors.ts'
import { formats } from '../formats/index.ts'
import type { WriteContext } from '../formats/format.ts'
import { systemFiles } from '../journal/files.ts'
import type { LiveFormat } from '../journal/record.ts'
import type { Session } from '../transcript/session.ts'
import { VERSION } from '../version.ts'
import type { Archive } from './archive.ts'
import { readThrough } from './facts.ts'
import { readSession } from './read-session.ts'
import { createRebuild, type Kept } from './rebuild-files.ts'

export type RebuiltFormat = {
  readonly format: string
  readonly written: readonly string[]
  /** Files that hold what the journal does not, and stayed as they are. */
  readonly kept: readonly Kept[]
  readonly error?: string
}

/** A format that was live, as the journal tells of it. */
export type Rebuildable = LiveFormat & {
  /** The session's facts when the fold was begun. */
  readonly begun: Session
  readonly ours: ReadonlySet<string>
  /** Names that the fold asked for and that others had. */
  readonly refused: ReadonlySet<string>
}

/** One that fails does not keep the others. `onClaim` is told of each new file before it is created. */
export async function rebuildFormats(
  archive: Archive,
  id: string,
  live: readonly Rebuildable[],
  onClaim: (format: string, path: string, taken?: true) => void,
): Promise<readonly RebuiltFormat[]> {
  const rebuilt: RebuiltFormat[] = []
  for (const one of live) {
    const claim = (path: string, taken?: true): void => onClaim(one.id, path, taken)
    try {
      rebuilt.push({ format: one.id, ...(await rebuild(archive, id, one, claim)) })
    } catch (error) {
      rebuilt.push({ format: one.id, written: [], kept: [], error: messageOf(error) })
    }
  }
  return rebuilt
}

async function rebuild(
  archive: Archive,
  id: string,
  { id: format, root: noted, umask, timeZone, version = VERSION, begun, ours, refused }: Rebuildable,
  onClaim: (path: string, taken?: true) => void,
): Promise<Pick<RebuiltFormat, 'written' | 'kept'>> {
  const write = formats.find((one) => one.id === format)?.write
  if (write === undefined) throw new HansardError('unknown-format', `no such format: ${format}`)
  // Older journals note a relative root as it was given.
  const root = resolve(begun.cwd ?? '', noted)
  const isSeedsPlace = join(begun.cwd ?? '', write.root) === root
  const out = createRebuild({
    files: umask === 'system' ? systemFiles : archive.files,
    root,
    trusted: (isSeedsPlace ? begun.cwd : undefined) ?? dirname(root),
    ignored: write.ignored(begun),
    ours,
    refused,
    onClaim,
  })
  const context: WriteContext = {
    taken: (path) => out.taken(path),
    claim: (path) => out.claim(path),
    lost: () => {},
    filled: () => {},
    version,
    ...(timeZone !== undefined && { timeZone }),
  }
  try {
    const writing = write.begin(begun, context)
    out.start(writing.start())
    for await (const items of readSession(archive, id)) {
      for (const item of items) if (item.type === 'entry') out.run(writing.entry(item.entry))
    }
    out.run(writing.end((await readThrough(archive, id)).session))
    return { written: out.finish(), kept: out.kept() }
  } catch (error) {
    out.abandon()
    throw error
  }
}
