/**
 * An older checkpoint's transcript beside the newest: mostly the same, and only what the newest lacks is given, so that nothing is
 * lost and nothing comes twice. Lines keep their offsets: those that are said elsewhere read as blank.
 */
import { createHash } from 'node:crypto'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import { readLines, type Line } from '../transcript/lines.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { ReadItem } from './format.ts'
import { createIdSet, type IdSet } from './id-set.ts'

/** The lines of files, remembered in a few bytes each. */
export async function linesOf(files: readonly SourceFile[]): Promise<IdSet> {
  const seen = createIdSet()
  // Not in the frame that waits for the next: it would hold on to the last line meanwhile.
  const take = ({ text }: Line): void => {
    if (text !== undefined) seen.add(text)
  }
  for (const file of files) for await (const lines of readLines(file.chunks())) lines.forEach(take)
  return seen
}

/** The file without the lines that were seen; those it has are seen from now on. */
export async function withoutLines(file: SourceFile, seen: IdSet): Promise<SourceFile> {
  const blanks: { readonly from: number; readonly to: number }[] = []
  const take = ({ text, byteOffset, byteLength }: Line): void => {
    if (text === undefined) return
    if (seen.has(text)) blanks.push({ from: byteOffset, to: byteOffset + byteLength })
    else seen.add(text)
  }
  for await (const lines of readLines(file.chunks())) lines.forEach(take)
  const { path, sizeBytes, modifiedAt } = file
  return {
    path,
    sizeBytes,
    modifiedAt,
    head: (bytes) => file.head(bytes),
    bytes: (limit) => file.bytes(limit),
    chunks: () => blanked(file, blanks),
  }
}

const SPACE = 0x20
const NEWLINE = 0x0a

async function* blanked(
  file: SourceFile,
  blanks: readonly { readonly from: number; readonly to: number }[],
): AsyncGenerator<Buffer> {
  let at = 0
  let next = 0
  for await (const chunk of file.chunks()) {
    const copy = Buffer.from(chunk)
    for (
      let blank = blanks[next];
      blank !== undefined && blank.from < at + copy.length;
      blank = blanks[next]
    ) {
      const [from, to] = [Math.max(0, blank.from - at), Math.min(copy.length, blank.to - at)]
      const end = copy[to - 1] === NEWLINE ? to - 1 : to
      copy.fill(SPACE, from, end)
      if (blank.to > at + copy.length) break
      next += 1
    }
    at += copy.length
    yield copy
  }
}

export type Fresh = {
  /** Remembers what was given. */
  see(item: ReadItem): void
  /** The item numbered after all that was given, or undefined when it says what was said before. */
  take(item: ReadItem): ReadItem | undefined
}

/** For documents, which have no lines to compare: entries are told by their call, their own id, or what they say. */
export function createFresh(): Fresh {
  const calls = createIdSet()
  const ids = createIdSet()
  const said = createIdSet()
  const counts = new Map<string, number>()
  const remember = (entry: Entry): void => {
    if (entry.call?.messageId !== undefined) calls.add(entry.call.messageId)
    ids.add(entry.id)
    said.add(keyOf(entry))
    counts.set(entry.source, Math.max(counts.get(entry.source) ?? 0, entry.sequence + 1))
  }
  return {
    see(item) {
      if (item.type === 'entry') remember(item.entry)
    },
    take(item) {
      if (item.type !== 'entry') return item.type === 'damage' ? item : undefined
      const { entry } = item
      const isNumbered = entry.id.endsWith(`/${entry.sequence}`)
      const isKnown = entry.call?.messageId !== undefined && calls.has(entry.call.messageId)
      if (isKnown || said.has(keyOf(entry)) || (!isNumbered && ids.has(entry.id))) return undefined
      const sequence = counts.get(entry.source) ?? 0
      const id = isNumbered || ids.has(entry.id) ? `${entry.source}/${sequence}` : entry.id
      // Of calls only those of the newest count: several entries of one that is gone from it are all taken.
      counts.set(entry.source, sequence + 1)
      ids.add(id)
      said.add(keyOf(entry))
      return { type: 'entry', entry: { ...entry, id, sequence } }
    },
  }
}

function keyOf({ source, kind, role, at, blocks, usage, metadata }: Entry): string {
  const where = source === PRIMARY ? '' : source
  const parts = [
    where,
    kind,
    role ?? null,
    at ?? null,
    blocks,
    usage?.raw ?? null,
    metadata?.['record'] ?? null,
  ]
  return createHash('sha1').update(toJson(parts)).digest('base64')
}
