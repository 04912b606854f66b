/**
 * What one thread has to tell another, packed when nobody waits: what is put here costs an entry in a list, and is packed, sent and
 * remembered later. What waits is bounded in memory; beyond that it waits outside of it, and past that it is left out.
 */
import { createPacker, machineNow, sizeOf, type Kind, type Packer, type Parcel } from './parcel.ts'
import { collectYoung } from '../../sources/one-at-a-time.ts'
import type { Spill } from '../spill.ts'
import { createWaiting } from './waiting.ts'

export type Outbox = {
  /** Bytes, which nobody may change any more, or what is written as JSON. False when there is no room for it. */
  readonly put: (kind: Kind, call: number, what: Buffer | object) => boolean
  /** Bytes that the other side holds for us: they count as if they waited. */
  readonly hold: (bytes: number) => void
  /** What is here goes out as far as the other side takes it. */
  flush(): void
  /** All that is here goes out, whether the other side can take it or not. */
  flushAll(): void
  /** When all that is here has gone out. */
  drained(): Promise<void>
  /** A parcel has been read, and its memory may be used again. */
  took(buffer: ArrayBuffer): void
  /** Parcels that are out, and since when the oldest is, as `performance.now()` has it. */
  readonly out: () => { readonly parcels: number; readonly since: number }
  /** Nobody takes anything any more. */
  stop(): void
}

export type OutboxOptions = {
  readonly send: (parcel: Parcel) => void
  /** Something was put here that will not be told. */
  readonly leftOut: () => void
  readonly spill: Spill
  readonly budget?: number
}

/** Bytes that wait, of all calls: more than the longest request. */
const BUDGET = 80 * 1024 * 1024
/** Past the budget, for how calls begin and end. */
const RESERVE = 8 * 1024 * 1024
/** About what such a thing takes as JSON. */
const FACTS = 1024
/** Of a block: more than a socket gives at once. */
const BLOCK = 128 * 1024
/** Blocks kept for the next use, when nothing waits. While something does all are: each new one would leave a gap where it was. */
const MOST_KEPT = 16
/** Blocks that are full and go out soon, whatever they hold. */
const MANY = 8
/** Things, and bytes of them, that are packed at once: more than a call brings, so that its bytes are on their way first. */
const MOST_LOOSE = 64
const MOST_LOOSE_BYTES = 512 * 1024
/** A parcel this full changes hands itself; of a smaller one a copy does. */
const WORTH_GIVING = BLOCK / 4
/** Parcels that are out when what is not full waits: whoever is busy with these gets it with what comes after it. */
const FEW_OUT = 4
/** Out at a time: whoever reads them has its own affairs in between. */
const MOST_OUT = 16
/** How a call begins and ends waits this long, in milliseconds: a recorder that wakes up takes a processor from what is on its way. */
const SOON_MS = 2
/**
 * A chunk waits this long for others: each time that it goes out takes as long as one takes to pass. It goes out behind the next one that
 * passes, since most come at a beat: what is done right behind one is hardly ever in the way of another. Where none comes, by itself.
 */
const LINGER_MS = 60
const ALONE_MS = 100
/**
 * Things put until what is left of them is let go, while nobody waits: V8 would do it while one of them passes. Where chunks come every
 * millisecond somebody always does, so it is done for few of them.
 */
const COLLECT_AFTER = 400
/** Bytes packed until it is, whoever waits: of memory outside its heap V8 knows little. */
const COLLECT_BYTES = 4 * 1024 * 1024

type Loose = {
  readonly kind: Kind
  readonly call: number
  readonly at: number
  readonly what: Buffer | object
}

export function createOutbox({ send, leftOut, spill, budget = BUDGET }: OutboxOptions): Outbox {
  // The first time takes longest.
  collectYoung()
  let loose: Loose[] = []
  let looseBytes = 0
  let putSince = 0
  let packedBytes = 0
  let packer: Packer | undefined
  const kept: ArrayBuffer[] = []
  /** When each of those that are out was sent: they come back in order. */
  const sent: number[] = []
  let outBytes = 0
  let elsewhere = 0
  let isStopped = false
  let soon: NodeJS.Timeout | undefined
  let later: NodeJS.Timeout | undefined
  let drained: (() => void)[] = []

  const keep = (buffer: ArrayBuffer): void => {
    if (buffer.byteLength === BLOCK) kept.push(buffer)
    if (kept.length > MOST_KEPT && waiting.count() === 0) kept.length = MOST_KEPT
  }
  const block = (size: number): ArrayBuffer =>
    size > BLOCK ? new ArrayBuffer(size) : (kept.pop() ?? new ArrayBuffer(BLOCK))
  const ready = (): void => sendNext(MOST_OUT)
  const waiting = createWaiting({ spill, free: keep, block, lost: leftOut, ready })

  const close = (): void => {
    if (packer === undefined || packer.used() === 0) return
    const { buffer, used } = packer.parcel()
    const isGiven = used >= WORTH_GIVING
    waiting.push({ buffer: isGiven ? buffer : buffer.slice(0, used), used })
    packer = isGiven ? undefined : createPacker(buffer)
  }
  const pack = (): void => {
    const all = loose
    loose = []
    packedBytes += looseBytes
    looseBytes = 0
    for (const { kind, call, at, what } of all) {
      const bytes = Buffer.isBuffer(what) ? what : Buffer.from(JSON.stringify(what))
      const size = sizeOf(bytes)
      if (packer !== undefined && !packer.hasRoom(size)) close()
      packer ??= createPacker(block(size))
      // A copy was sent, and what it was copied from is smaller than this.
      if (!packer.hasRoom(size)) packer = createPacker(new ArrayBuffer(size))
      packer.put(kind, call, at, bytes)
    }
    if (packedBytes > COLLECT_BYTES) letGo()
  }
  const letGo = (): void => {
    putSince = 0
    packedBytes = 0
    collectYoung()
  }
  const sendOne = (parcel: Parcel): void => {
    sent.push(performance.now())
    outBytes += parcel.buffer.byteLength
    send(parcel)
  }
  const sendNext = (most: number): void => {
    while (sent.length < most) {
      const parcel = waiting.take()
      if (parcel === undefined) break
      sendOne(parcel)
    }
    if (drained.length === 0 || !isEmpty()) return
    for (const done of drained) done()
    drained = []
  }
  const isEmpty = (): boolean =>
    isStopped || (waiting.count() === 0 && loose.length === 0 && (packer?.used() ?? 0) === 0)
  const collect = (): void => {
    clearTimeout(soon)
    clearTimeout(later)
    soon = later = undefined
    pack()
    close()
  }
  const flush = (): void => {
    putSince += loose.length
    collect()
    sendNext(MOST_OUT)
    if (putSince >= COLLECT_AFTER) letGo()
  }
  const flushSoon = (): void => {
    if (sent.length < FEW_OUT) soon ??= setTimeout(flush, SOON_MS)
  }
  const flushLater = (): void => {
    if (sent.length < FEW_OUT && soon === undefined) later ??= setTimeout(flush, ALONE_MS)
  }

  return {
    put(kind, call, what) {
      if (isStopped) return false
      const size = Buffer.isBuffer(what) ? sizeOf(what) : FACTS
      const isPart = kind === 'chunk' || kind === 'request'
      const all = outBytes + waiting.held() + elsewhere + looseBytes + (packer?.used() ?? 0)
      if (all + size > (isPart ? budget : budget + RESERVE)) {
        leftOut()
        return false
      }
      const now = machineNow()
      loose.push({ kind, call, at: now, what })
      looseBytes += size
      if (loose.length >= MOST_LOOSE || looseBytes >= MOST_LOOSE_BYTES) {
        pack()
        if (waiting.count() >= MANY) flushSoon()
      }
      if (isPart && now - (loose[0]?.at ?? now) < LINGER_MS) flushLater()
      else flushSoon()
      return true
    },
    hold(bytes) {
      elsewhere += bytes
    },
    flush,
    flushAll() {
      collect()
      for (let next = waiting.takeNow(); next !== undefined; next = waiting.takeNow()) sendOne(next)
      sendNext(MOST_OUT)
    },
    drained: () =>
      new Promise((done) => {
        drained.push(done)
        flush()
      }),
    took(buffer) {
      sent.shift()
      outBytes -= buffer.byteLength
      keep(buffer)
      sendNext(MOST_OUT)
      if (loose.length > 0 || (packer !== undefined && packer.used() > 0)) flushSoon()
    },
    out: () => ({ parcels: sent.length, since: sent[0] ?? performance.now() }),
    stop() {
      isStopped = true
      packer = undefined
      loose = []
      waiting.clear()
      clearTimeout(soon)
      clearTimeout(later)
      sendNext(0)
    },
  }
}
