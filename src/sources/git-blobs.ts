/** Files of a repository's trees by number: of a hundred thousand of them, ids and sizes take some ten bytes each. */

export type GitBlobs = {
  /** Its number: the next. */
  add(id: Buffer): number
  count(): number
  /** In hex. */
  id(blob: number): string
  /** In bytes; 0 as long as nobody said. */
  size(blob: number): number
  setSize(blob: number, bytes: number): void
}

const FIRST_ROOM = 256

export function createGitBlobs(): GitBlobs {
  /** How many bytes an id has: the same for all of a repository's. */
  let width = 0
  let count = 0
  let ids = Buffer.alloc(0)
  let sizes = new Float64Array(FIRST_ROOM)
  return {
    add(id) {
      width ||= id.length
      if (count * width + width > ids.length) {
        const more = Buffer.alloc(Math.max(FIRST_ROOM * width, 2 * ids.length))
        ids.copy(more)
        ids = more
      }
      if (count === sizes.length) {
        const more = new Float64Array(2 * count)
        more.set(sizes)
        sizes = more
      }
      id.copy(ids, count * width, 0, width)
      return count++
    },
    count: () => count,
    id: (blob) => ids.toString('hex', blob * width, blob * width + width),
    size: (blob) => sizes[blob] ?? 0,
    setSize: (blob, bytes) => void (sizes[blob] = bytes),
  }
}
