/**
 * Zstandard frames, decoded by `fzstd`. It checks less than the reference decoder: a block of a dozen bytes can keep it
 * busy for minutes. So every step runs against the clock: a stream takes time in proportion to its size, or ends.
 */
import vm from 'node:vm'
import { Decompress } from 'fzstd'
import { messageOf } from '../errors.ts'
import type { DecodeFrame } from './zstd.ts'
import { createChecksum } from './xxh64.ts'
import { BrokenFrame } from './zstd-frame.ts'

/** A block gives at most 128 KB, in some milliseconds. */
const STEP_MS = 1000
const FREE_MS = 10_000
/** A twentieth of what a slow machine does. */
const SLOWEST_BYTES_PER_MS = 1024

export function javaScriptDecoder(): DecodeFrame {
  const clock = createClock()
  return async function* (pieces) {
    const sum = createChecksum()
    let ready: Buffer[] = []
    const decoder = new Decompress(({ buffer, byteOffset, byteLength }) => {
      if (byteLength > 0) ready.push(Buffer.from(buffer, byteOffset, byteLength))
    })
    const step = function* (bytes: Buffer, last: boolean): Generator<Buffer, string | undefined> {
      const broken = clock.run(bytes.length, () => decoder.push(bytes, last))
      // Also when it broke: what came before, in the same piece, is as good as ever.
      const done = ready
      ready = []
      for (const out of done) {
        clock.allow(out.length)
        sum.update(out)
        yield out
      }
      return broken
    }
    try {
      for await (const { bytes, last, checksum } of pieces) {
        const broken = yield* step(bytes, last)
        if (broken !== undefined) throw new BrokenFrame(broken)
        if (checksum !== undefined && checksum !== sum.low32()) {
          throw new BrokenFrame('the content is not what its checksum says')
        }
      }
    } catch (error) {
      // The decoder holds back what is shorter than the longest header: an empty last block makes it let go.
      if (error instanceof BrokenFrame) yield* step(Buffer.from([1, 0, 0]), true)
      throw error
    }
  }
}

type Clock = {
  /** Why the work ended early, if it did. */
  run(bytes: number, work: () => void): string | undefined
  allow(bytes: number): void
}

function createClock(): Clock {
  const step = { work: (): void => {} }
  // node:vm is the one way to stop JavaScript that does not stop by itself. It is no fence, and none is needed here.
  const context = vm.createContext(step)
  const script = new vm.Script('work()')
  let spentMs = 0
  let allowedMs = FREE_MS
  const allow = (bytes: number): void => void (allowedMs += bytes / SLOWEST_BYTES_PER_MS)
  return {
    allow,
    run(bytes, work) {
      allow(bytes)
      const before = performance.now()
      step.work = work
      try {
        script.runInContext(context, { timeout: STEP_MS })
      } catch (error) {
        return isTimeout(error) ? 'a block that takes too long' : messageOf(error)
      }
      spentMs += performance.now() - before
      return spentMs > allowedMs ? 'blocks that take too long' : undefined
    },
  }
}

/** Not `instanceof`: the error may come from the other context. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}
