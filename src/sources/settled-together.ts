/**
 * What was kept and is not surely on disk yet: many at a time are settled together, and only then noted. While some are on their way to
 * the disk, the next are kept.
 */

export type SettledTogether<T> = {
  /** `bytes`: how many of it wait for the disk. */
  add(one: T, bytes: number): Promise<void>
  /** All are noted when it ends. */
  end(): Promise<void>
}

type How<T> = {
  /** All that was kept is on disk when it ends. */
  readonly settle: () => Promise<void>
  readonly note: (settled: readonly T[]) => void
  /** Of none of them is it known what the disk has. Absent: whoever adds the next, or ends, is told. */
  readonly failed?: (all: readonly T[], error: unknown) => void
}

const MOST_TOGETHER = 256
const MOST_BYTES_TOGETHER = 32 * 1024 * 1024

export function createSettledTogether<T>({ settle, note, failed }: How<T>): SettledTogether<T> {
  let waiting: T[] = []
  let waitingBytes = 0
  let before = Promise.resolve()
  const settleAll = async (all: readonly T[]): Promise<void> => {
    try {
      await settle()
    } catch (error) {
      if (failed === undefined) throw error
      failed(all, error)
      return
    }
    note(all)
  }
  const next = async (): Promise<void> => {
    await before
    const all = waiting
    waiting = []
    waitingBytes = 0
    before = settleAll(all)
    before.catch(() => {})
  }
  return {
    async add(one, bytes) {
      waiting.push(one)
      waitingBytes += bytes
      if (waiting.length >= MOST_TOGETHER || waitingBytes >= MOST_BYTES_TOGETHER) await next()
    },
    async end() {
      await next()
      await before
    },
  }
}
