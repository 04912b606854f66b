/**
 * Parcels in the order in which they were packed, until whoever takes them has time: the first of them in memory, and what is more than
 * memory should be asked for outside of it. What is asked for comes in order, wherever it was.
 */
import type { Parcel } from './parcel.ts'
import type { Extent, Spill } from '../spill.ts'

export type Waiting = {
  push(parcel: Parcel): void
  /** The next one; undefined when there is none, or when it has to be read first: `ready` is called then. */
  take(): Parcel | undefined
  /** The next one, also where it has to be waited for. */
  takeNow(): Parcel | undefined
  /** Bytes in memory. */
  readonly held: () => number
  readonly count: () => number
  clear(): void
}

export type WaitingOptions = {
  readonly spill: Spill
  readonly ready: () => void
  /** Its memory may be used again; and memory to use, of at least so many bytes. */
  readonly free: (buffer: ArrayBuffer) => void
  readonly block: (length: number) => ArrayBuffer
  /** One could not be read again. */
  readonly lost: () => void
  readonly most?: number
}

type One = {
  readonly used: number
  parcel: Parcel | undefined
  extent: Extent | undefined
  isReading: boolean
}

/** Bytes that wait in memory. */
const MOST_HELD = 4 * 1024 * 1024
/** Read ahead of their turn. */
const AHEAD = 4
/** Written at a time: more than all connections bring in a turn, for that is how often somebody asks whether they are written. */
const MOST_WRITING = 64

export function createWaiting(options: WaitingOptions): Waiting {
  const { spill, ready, free, block, lost, most = MOST_HELD } = options
  let all: One[] = []
  /** Those of them that have been nowhere else, in the same order: the newest have longest to wait. */
  let inside: One[] = []
  let held = 0
  let writing = 0

  const drop = (one: One): void => {
    held -= one.parcel?.buffer.byteLength ?? 0
    one.parcel = undefined
  }
  const isTooMuch = (): boolean => held > most && writing < MOST_WRITING
  const makeRoom = (): void => {
    while (isTooMuch()) {
      const one = inside.at(-1)
      if (one?.parcel === undefined) return
      const { buffer, used } = one.parcel
      one.extent = spill.write(new Uint8Array(buffer, 0, used), () => {
        writing -= 1
        makeRoom()
      })
      // No room there: it stays here until there is.
      if (one.extent === undefined) return
      inside.pop()
      writing += 1
      drop(one)
      free(buffer)
    }
  }
  const read = (one: One): void => {
    if (one.extent === undefined || one.isReading) return
    one.isReading = true
    const { extent } = one
    const into = block(extent.length)
    spill.read(extent, new Uint8Array(into), (isThere) => {
      one.isReading = false
      if (one.extent !== undefined) {
        came(one, extent, into, isThere)
        return ready()
      }
      spill.free(extent)
      return free(into)
    })
  }
  const came = (one: One, extent: Extent, buffer: ArrayBuffer, isThere: boolean): void => {
    one.extent = undefined
    // Whoever reads it meanwhile frees it.
    if (!one.isReading) spill.free(extent)
    if (!isThere) {
      free(buffer)
      lost()
      all = all.filter((other) => other !== one)
      return
    }
    one.parcel = { buffer, used: one.used }
    held += buffer.byteLength
  }
  const first = (): Parcel | undefined => {
    const [one] = all
    const parcel = one?.parcel
    if (one === undefined || parcel === undefined) return undefined
    all.shift()
    drop(one)
    if (inside[0] === one) inside.shift()
    return parcel
  }

  return {
    push(parcel) {
      const one: One = { used: parcel.used, parcel, extent: undefined, isReading: false }
      all.push(one)
      held += parcel.buffer.byteLength
      inside.push(one)
      makeRoom()
    },
    take() {
      const parcel = first()
      for (const one of all.slice(0, AHEAD)) read(one)
      return parcel
    },
    takeNow() {
      for (let one = all[0]; one !== undefined && one.parcel === undefined; one = all[0])
        if (one.extent !== undefined) {
          const into = block(one.extent.length)
          came(one, one.extent, into, spill.readNow(one.extent, new Uint8Array(into)))
        }
      return first()
    },
    held: () => held + spill.held(),
    count: () => all.length,
    clear() {
      for (const one of all) {
        if (one.extent !== undefined && !one.isReading) spill.free(one.extent)
        one.extent = undefined
        one.parcel = undefined
      }
      all = []
      inside = []
      held = 0
    },
  }
}
