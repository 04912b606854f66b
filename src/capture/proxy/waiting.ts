/**
 * Parcels in the order in which they were packed, until whoever takes them has time: the first of them in memory, and what is more than
 * memory should be asked for outside of it. What is asked for comes in order, wherever it was.
 */
import type { Parcel } from './parcel.ts'
import type { Place, Spill } from '../spill.ts'

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
  /** Its memory may be used again. */
  readonly free: (buffer: ArrayBuffer) => void
  /** One could not be read again. */
  readonly lost: () => void
  readonly most?: number
}

type One = {
  readonly used: number
  parcel: Parcel | undefined
  place: Place | undefined
  isReading: boolean
}

/** Bytes that wait in memory. */
const MOST_HELD = 4 * 1024 * 1024
/** Read ahead of their turn. */
const AHEAD = 4
/** Written at a time: each of them is in memory twice. */
const MOST_WRITING = 8

export function createWaiting({ spill, ready, free, lost, most = MOST_HELD }: WaitingOptions): Waiting {
  let all: One[] = []
  /** Those of which nothing has been written: the newest have longest to wait. */
  let inside: One[] = []
  let held = 0
  let writing = 0

  const drop = (one: One): void => {
    held -= one.parcel?.buffer.byteLength ?? 0
    one.parcel = undefined
  }
  const putOutside = (one: One, { buffer, used }: Parcel): void => {
    const place = spill.write(new Uint8Array(buffer, 0, used), (isThere) => {
      writing -= 1
      // It may have had its turn meanwhile.
      if (isThere && one.parcel?.buffer === buffer) {
        drop(one)
        one.place = place
        free(buffer)
      } else if (place !== undefined) spill.free(place)
      makeRoom()
    })
    if (place !== undefined) writing += 1
  }
  const makeRoom = (): void => {
    for (let free = MOST_WRITING - writing; free > 0; free -= 1) {
      const one = held > most ? inside.pop() : undefined
      if (one === undefined) return
      if (one.parcel !== undefined) putOutside(one, one.parcel)
    }
  }
  const read = (one: One): void => {
    if (one.place === undefined || one.isReading) return
    one.isReading = true
    const { place } = one
    spill.read(place, (bytes) => {
      one.isReading = false
      if (one.place === undefined) return spill.free(place)
      came(one, place, bytes)
      return ready()
    })
  }
  const came = (one: One, place: Place, bytes: Buffer | undefined): void => {
    one.place = undefined
    // Whoever reads it meanwhile frees it.
    if (!one.isReading) spill.free(place)
    if (bytes === undefined) {
      lost()
      all = all.filter((other) => other !== one)
      return
    }
    one.parcel = { buffer: whole(bytes), used: one.used }
    held += bytes.length
  }
  const first = (): Parcel | undefined => {
    const [one] = all
    const parcel = one?.parcel
    if (one === undefined || parcel === undefined) return undefined
    all.shift()
    drop(one)
    if (all.length === 0) inside = []
    return parcel
  }

  return {
    push(parcel) {
      const one: One = { used: parcel.used, parcel, place: undefined, isReading: false }
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
        if (one.place !== undefined) came(one, one.place, spill.readNow(one.place))
      return first()
    },
    held: () => held,
    count: () => all.length,
    clear() {
      for (const one of all) {
        if (one.place !== undefined && !one.isReading) spill.free(one.place)
        one.place = undefined
        one.parcel = undefined
      }
      all = []
      inside = []
      held = 0
    },
  }
}

/** Its own memory: small ones come out of memory that others share. */
function whole(bytes: Buffer): ArrayBuffer {
  return (bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)).buffer as ArrayBuffer
}
