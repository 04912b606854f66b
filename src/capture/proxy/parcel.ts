/**
 * What goes by, as one thread tells it to another: records in one block of memory, which changes hands whole. Each says what happened
 * to which call and when, with the bytes that passed.
 */

/** In the order in which they happen to a call; `ended` or `broken` is the last. */
const KINDS = ['request', 'asked', 'response', 'chunk', 'ended', 'broken'] as const
export type Kind = (typeof KINDS)[number]

export type Parcel = { readonly buffer: ArrayBuffer; readonly used: number }

/** `bytes` are good until it returns: their memory goes back to whoever packed them. */
export type Taker = (kind: Kind, call: number, at: number, bytes: Buffer) => void

export type Packer = {
  readonly used: () => number
  /** Of what `sizeOf` says of it. */
  readonly hasRoom: (size: number) => boolean
  readonly put: (kind: Kind, call: number, at: number, bytes: Buffer) => void
  readonly parcel: () => Parcel
}

/** Kind, call, time and length. */
const HEAD = 1 + 4 + 8 + 4

/** Milliseconds of a clock that all threads share and nobody sets. */
export function machineNow(): number {
  return performance.now() + SINCE
}

/** The same moment as this thread's `performance.now()` has it: each thread's begins with the thread. */
export function toOwnTime(at: number): number {
  return at - SINCE
}

const SINCE = Number(process.hrtime.bigint()) / 1e6 - performance.now()

export function sizeOf(bytes: Buffer): number {
  return HEAD + bytes.length
}

export function createPacker(buffer: ArrayBuffer): Packer {
  const into = Buffer.from(buffer)
  let used = 0
  return {
    used: () => used,
    hasRoom: (size) => used + size <= into.length,
    put(kind, call, at, bytes) {
      into[used] = KINDS.indexOf(kind)
      into.writeUInt32LE(call, used + 1)
      into.writeDoubleLE(at, used + 5)
      into.writeUInt32LE(bytes.length, used + 13)
      bytes.copy(into, used + HEAD)
      used += HEAD + bytes.length
    },
    parcel: () => ({ buffer, used }),
  }
}

export function unpack({ buffer, used }: Parcel, take: Taker): void {
  const from = Buffer.from(buffer, 0, used)
  let at = 0
  while (at < used) {
    const end = at + HEAD + from.readUInt32LE(at + 13)
    take(
      KINDS[from[at] as number] as Kind,
      from.readUInt32LE(at + 1),
      from.readDoubleLE(at + 5),
      from.subarray(at + HEAD, end),
    )
    at = end
  }
}
