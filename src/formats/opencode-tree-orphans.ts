/** Parts of OpenCode's tree of files whose message is nowhere, by the session that they name: read with it, for they are entries of it. */
import type { SourceFile } from '../transcript/source.ts'
import { createIdSet } from './id-set.ts'
import type { Tree } from './opencode-tree.ts'

export type Orphans = {
  /** The parts of one message after another; each once. */
  take(session: string): Generator<readonly SourceFile[], void, undefined>
  /** Those of which some were not taken. Some may be taken meanwhile. */
  sessions(): Iterable<string>
}

export const NO_ORPHANS: Orphans = { *take() {}, sessions: () => [] }

/** `sessionIn`: the session that a part names. Asked only where the files' names say that a message is missing. */
export async function findOrphans(
  { messages, parts }: Tree,
  sessionIn: (file: SourceFile) => Promise<string | undefined>,
): Promise<Orphans> {
  const known = createIdSet()
  for (const { path } of messages.files) known.add(stem(path))
  const found = createIdSet()
  /** A file of each message, by its number: there may be a million. */
  const files = new Map<string, number[]>()
  for (let number = 0; number < parts.files.length; number += 1) {
    const message = parts.keyAt(number)
    if (known.has(message) || found.has(message)) continue
    const session = await sessionIn(parts.files[number] as SourceFile)
    // Another part of the same message may say it.
    if (session === undefined) continue
    found.add(message)
    const others = files.get(session)
    if (others === undefined) files.set(session, [number])
    else others.push(number)
  }
  return {
    *take(session) {
      const numbers = files.get(session) ?? []
      files.delete(session)
      for (const number of numbers) yield parts.take(parts.keyAt(number))
    },
    sessions: () => files.keys(),
  }
}

/** What a file is called by. */
export function stem(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.json$/, '')
}
