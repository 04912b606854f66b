/**
 * Where the frames and blocks of a Zstandard stream lie (RFC 8878, §3.1), without decoding any: so that a stream cut off
 * anywhere still gives its whole blocks, and nothing is allocated because a header asks for it.
 */

/** One whole block, the frame's header before the first and its checksum, where it has one, after the last. */
export type FramePiece = { readonly bytes: Buffer; readonly last: boolean; readonly checksum?: number }

/** Bytes that are no frame, or not all of one. The message is the reason, in words. */
export class BrokenFrame extends Error {}

export type FrameInput = {
  /** Whether `bytes` more can be taken; reads as far as it must. */
  has(bytes: number): Promise<boolean>
  peek(): Buffer
  take(bytes: number): Buffer
}

const MAGIC = 0xfd2fb528
/** The last four bits are free. */
const SKIPPABLE = 0x184d2a50
const MAX_BLOCK_BYTES = 128 * 1024
/** What `zstd -d` allows without being asked for more (--long=27). */
const MAX_WINDOW_BYTES = 128 * 1024 * 1024
const LONGEST_HEADER = 18

export function isZstd(head: Buffer): boolean {
  return head.length >= 4 && (head.readUInt32LE(0) === MAGIC || isSkippable(head.readUInt32LE(0)))
}

/** Goes to the next frame that holds something; false at the end. Throws `BrokenFrame` for bytes that are none. */
export async function findFrame(input: FrameInput): Promise<boolean> {
  while (await input.has(1)) {
    await expect(input, 4)
    const magic = input.peek().readUInt32LE(0)
    if (magic === MAGIC) return true
    if (!isSkippable(magic)) throw new BrokenFrame('bytes that are no frame')
    await skip(input)
  }
  return false
}

/** The pieces of the frame that begins here. Throws `BrokenFrame` where it breaks off. */
export async function* frameAt(input: FrameInput): AsyncGenerator<FramePiece> {
  const { headerBytes, checksum } = await readHeader(input)
  let before = input.take(headerBytes)
  for (;;) {
    await expect(input, 3)
    const header = input.peek().readUIntLE(0, 3)
    const last = (header & 1) === 1
    const type = (header >> 1) & 3
    const size = header >> 3
    if (type === 3 || size > MAX_BLOCK_BYTES) throw new BrokenFrame('a block that is none')
    // A run of one byte: the size is that of the run.
    await expect(input, 3 + (type === 1 ? 1 : size))
    const block = input.take(3 + (type === 1 ? 1 : size))
    if (!last) {
      yield { bytes: Buffer.concat([before, block]), last }
      before = Buffer.alloc(0)
      continue
    }
    const ending = checksum ? 4 : 0
    const whole = await input.has(ending)
    // Without its checksum a block is still a block: given, and then said to be unchecked.
    const sum = whole ? input.take(ending) : Buffer.alloc(0)
    yield {
      bytes: Buffer.concat([before, block, sum]),
      last,
      ...(sum.length > 0 && { checksum: sum.readUInt32LE(0) }),
    }
    if (!whole) throw new BrokenFrame('unexpected end of file')
    return
  }
}

function isSkippable(magic: number): boolean {
  return (magic & 0xfffffff0) === SKIPPABLE
}

async function skip(input: FrameInput): Promise<void> {
  await expect(input, 8)
  let left = 8 + input.peek().readUInt32LE(4)
  while (left > 0) {
    await expect(input, 1)
    left -= input.take(Math.min(left, input.peek().length)).length
  }
}

async function readHeader(input: FrameInput): Promise<{ headerBytes: number; checksum: boolean }> {
  await expect(input, 5)
  await input.has(LONGEST_HEADER)
  const head = input.peek()
  const flags = head[4] as number
  const single = (flags & 0x20) !== 0
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] as number
  const sizeBytes = [single ? 1 : 0, 2, 4, 8][flags >> 6] as number
  const dictionaryAt = single ? 5 : 6
  const headerBytes = dictionaryAt + dictionaryBytes + sizeBytes
  await expect(input, headerBytes)
  if ((flags & 0x08) !== 0) throw new BrokenFrame('a frame of a version not known yet')
  if (head.subarray(dictionaryAt, dictionaryAt + dictionaryBytes).some((byte) => byte !== 0)) {
    throw new BrokenFrame('a frame that needs a dictionary')
  }
  const window = single
    ? contentBytes(head.subarray(headerBytes - sizeBytes, headerBytes))
    : windowBytes(head[5] as number)
  if (window > MAX_WINDOW_BYTES) throw new BrokenFrame(`a frame that needs ${window} bytes of memory`)
  return { headerBytes, checksum: (flags & 0x04) !== 0 }
}

function contentBytes(field: Buffer): number {
  if (field.length === 8) return Number(field.readBigUInt64LE(0))
  return field.length === 2 ? field.readUInt16LE(0) + 256 : field.readUIntLE(0, field.length)
}

function windowBytes(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
}

async function expect(input: FrameInput, bytes: number): Promise<void> {
  if (!(await input.has(bytes))) throw new BrokenFrame('unexpected end of file')
}

/** Holds no more than the largest block and the piece it came in. */
export function toFrameInput(compressed: AsyncIterable<Buffer>): FrameInput {
  const pieces = compressed[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  return {
    async has(bytes) {
      while (held.length < bytes) {
        const next = await pieces.next()
        if (next.done === true) return false
        held = held.length === 0 ? next.value : Buffer.concat([held, next.value])
      }
      return true
    },
    peek: () => held,
    take(bytes) {
      const taken = held.subarray(0, bytes)
      held = held.subarray(bytes)
      return taken
    },
  }
}
