/**
 * Which transcripts are beginnings of another: transcripts grow from checkpoint to checkpoint, and a beginning says nothing that the
 * whole does not. Told by git's own ids, which are hashes of content: only the whole one is read.
 */
import { createHash, type Hash } from 'node:crypto'
import type { GitBlob } from './git-trees.ts'

/** True, by place in `transcripts`, for each whose chunks in order are the first of the `whole` bytes. */
export async function findBeginnings(
  whole: AsyncIterable<Buffer>,
  transcripts: readonly (readonly GitBlob[])[],
): Promise<readonly boolean[]> {
  const ranges = new Map<string, Range>()
  const layouts = transcripts.map((chunks) =>
    [0, 1].map((gap) => (chunks.length > 1 || gap === 0 ? lay(chunks, gap, ranges) : undefined)),
  )
  const open = [...ranges.values()]
  let at = 0
  for await (const piece of whole) {
    for (const { from, to, hash } of open) {
      const [first, last] = [Math.max(from, at), Math.min(to, at + piece.length)]
      if (first < last) hash.update(piece.subarray(first - at, last - at))
    }
    at += piece.length
  }
  const matches = new Set(open.filter(({ to, id, hash }) => to <= at && hash.digest('hex') === id))
  return layouts.map((either) =>
    either.some((layout) => layout?.every((range) => matches.has(range)) === true),
  )
}

type Range = { readonly from: number; readonly to: number; readonly id: string; readonly hash: Hash }

/** Where the chunks would lie. Whether the newline between two went with the first is not written down: both are tried. */
function lay(chunks: readonly GitBlob[], gap: number, ranges: Map<string, Range>): readonly Range[] {
  let from = 0
  return chunks.map(({ id, sizeBytes }) => {
    const key = `${from} ${id}`
    const hash = createHash(id.length === 64 ? 'sha256' : 'sha1').update(`blob ${sizeBytes}\0`)
    const range = ranges.get(key) ?? { from, to: from + sizeBytes, id, hash }
    ranges.set(key, range)
    from += sizeBytes + gap
    return range
  })
}
