/**
 * Which transcripts are beginnings of another: transcripts grow from checkpoint to checkpoint, and a beginning says nothing that the
 * whole does not. Told by git's own ids, which are hashes of content: only the whole one is read.
 */
import { createHash, type Hash } from 'node:crypto'

/** An object's id, in hex, and how long it is. */
export type SizedBlob = { readonly id: string; readonly sizeBytes: number }

/** True, by place in `transcripts`, for each whose chunks in order are the first of the `whole` bytes. */
export async function findBeginnings(
  whole: AsyncIterable<Buffer>,
  transcripts: readonly (readonly SizedBlob[])[],
): Promise<readonly boolean[]> {
  const ranges = new Map<string, Range>()
  const layouts = transcripts.map((chunks) =>
    [0, 1].map((gap) => (chunks.length > 1 || gap === 0 ? lay(chunks, gap, ranges) : undefined)),
  )
  const matches = new Set<Range>()
  const end = ({ range, hash }: Open): void => {
    if (hash.digest('hex') === range.id) matches.add(range)
  }
  /** From the last to the first: the next to open is at the end. */
  const waiting = [...ranges.values()].sort((a, b) => b.from - a.from)
  let open: readonly Open[] = []
  let at = 0
  for await (const piece of whole) {
    const to = at + piece.length
    const opened: Open[] = []
    for (let next = waiting.at(-1); next !== undefined && next.from < to; next = waiting.at(-1)) {
      waiting.pop()
      opened.push(begin(next))
    }
    // Only what is under way holds a hash: there may be one for each checkpoint.
    open = [...open, ...opened].filter((one) => {
      const [first, last] = [Math.max(one.range.from, at), Math.min(one.range.to, to)]
      if (first < last) one.hash.update(piece.subarray(first - at, last - at))
      if (one.range.to > to) return true
      end(one)
      return false
    })
    at = to
  }
  for (const range of waiting) if (range.to <= at) end(begin(range))
  return layouts.map((either) =>
    either.some((layout) => layout?.every((range) => matches.has(range)) === true),
  )
}

type Range = { readonly from: number; readonly to: number; readonly id: string }
type Open = { readonly range: Range; readonly hash: Hash }

function begin(range: Range): Open {
  const hash = createHash(range.id.length === 64 ? 'sha256' : 'sha1')
  return { range, hash: hash.update(`blob ${range.to - range.from}\0`) }
}

/** Where the chunks would lie. Whether the newline between two went with the first is not written down: both are tried. */
function lay(chunks: readonly SizedBlob[], gap: number, ranges: Map<string, Range>): readonly Range[] {
  let from = 0
  return chunks.map(({ id, sizeBytes }) => {
    const key = `${from} ${id}`
    const range = ranges.get(key) ?? { from, to: from + sizeBytes, id }
    ranges.set(key, range)
    from += sizeBytes + gap
    return range
  })
}
