/**
 * The lines of one of the archive's own files as bytes, without their newline: for whoever needs their hash, their start or what they say.
 * One of many MB comes without its bytes: they are asked for by its place, a part at a time.
 */

const NEWLINE = 0x0a

/** In bytes: longer lines are not held. */
export const LONG_LINE = 1024 * 1024

export type ByteLine = {
  /** From 1, empty lines counted. */
  readonly number: number
  readonly offset: number
  readonly length: number
  /** False for a last line without its newline: it is torn. */
  readonly isWhole: boolean
  /** Undefined for a long one. */
  readonly bytes: Buffer | undefined
}

/** A batch for each chunk; the bytes of each line may be kept. Empty lines are left out. `isHeld`: by its start, a line that is held anyway. */
export async function* byteLines(
  chunks: AsyncIterable<Buffer>,
  isHeld: (start: Buffer) => boolean = () => false,
): AsyncGenerator<readonly ByteLine[]> {
  let isLeft = false
  let parts: Buffer[] = []
  let [number, offset, held] = [1, 0, 0]
  const add = (part: Buffer): void => {
    held += part.length
    // The first part may be a byte: where a chunk ends is no line's affair.
    isLeft ||= held > LONG_LINE && !isHeld(Buffer.concat([...parts, part].slice(0, 2)))
    if (isLeft) parts = []
    else parts.push(part)
  }
  const end = (isWhole: boolean): ByteLine => {
    const [only = Buffer.alloc(0), ...more] = parts
    const bytes = isLeft ? undefined : more.length === 0 ? only : Buffer.concat(parts)
    const line = { number, offset, length: held, isWhole, bytes }
    offset += held + 1
    number += 1
    parts = []
    held = 0
    isLeft = false
    return line
  }
  for await (const chunk of chunks) {
    const lines: ByteLine[] = []
    let start = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      if (at > start) add(chunk.subarray(start, at))
      const line = end(true)
      if (line.length > 0) lines.push(line)
      start = at + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
  if (held > 0) yield [end(false)]
}
