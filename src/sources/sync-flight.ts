/** What is under way while units are read: those that readers have, and what waits to be put in the state together. */
import type { Database } from '../sqlite/driver.ts'
import type { Readers } from './readers.ts'

/** Units on their way to and from readers. */
export type Flight = {
  /** Comes back when there is room for one more, and throws what one of them failed of. */
  enter(bytes: number): Promise<void>
  leave(bytes: number): void
  fail(error: unknown): void
}

/** Of large units none waits for another to be read by the same thread. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024

export function createFlight({ threads, width }: Readers): Flight {
  let count = 0
  let bytes = 0
  let failed: { readonly error: unknown } | undefined
  let wake: () => void = () => {}
  const isFull = (): boolean => count >= width || (count >= threads && bytes > MOST_WAITING_BYTES)
  const mustWait = (): boolean => isFull() && failed === undefined
  return {
    async enter(size) {
      while (mustWait()) await new Promise<void>((resolve) => (wake = resolve))
      if (failed !== undefined) throw failed.error
      count += 1
      bytes += size
    },
    leave(size) {
      count -= 1
      bytes -= size
      wake()
    },
    fail(error) {
      failed ??= { error }
      wake()
    },
  }
}

/** Units put in the state together: long enough that waiting for the file is little of it, short enough to be seen at once. */
const MOST_GATHERED_S = 1

export function createGathering(database: Database): {
  next(): void
  settle(): void
  settleIfPossible(): void
} {
  let settle = database.gather()
  // The clock that is always there: asking for a finer one loads it.
  let since = process.uptime()
  return {
    next() {
      if (process.uptime() - since < MOST_GATHERED_S) return
      settle()
      settle = database.gather()
      since = process.uptime()
    },
    settle: () => settle(),
    settleIfPossible() {
      try {
        settle()
      } catch {}
    },
  }
}
