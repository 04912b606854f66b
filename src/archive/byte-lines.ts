/** The whole lines of a file as bytes, without their newline: for whoever needs their hash or their start, and not their text. */

const NEWLINE = 0x0a

/** A batch for each chunk; each line may be kept. A last line without its newline is torn, and left out, as is an empty one. */
export async function* wholeByteLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let parts: Buffer[] = []
  for await (const chunk of chunks) {
    const lines: Buffer[] = []
    let start = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, at)
      const line = parts.length === 0 ? piece : Buffer.concat([...parts, piece])
      if (line.length > 0) lines.push(line)
      parts = []
      start = at + 1
    }
    if (start < chunk.length) parts.push(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
}
