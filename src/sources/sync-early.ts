/**
 * Readers that are started while files are still looked for, as soon as there are enough to be worth their start: a first sync has
 * nothing else for a second processor by then.
 */
import type { Readers } from './readers.ts'

export type EarlyReaders = {
  /** Told of files that are to be read. */
  seen(bytes: number): void
  /** Gives them, where they were started, to who closes them. */
  take(): Readers | undefined
  /** Those that nobody took. */
  close(): Promise<void>
}

/** `worth`: bytes that they are started for. */
export async function openEarlyReaders(worth: number): Promise<EarlyReaders> {
  const { loadReaders } = await import('./readers.ts')
  const start = await loadReaders()
  let bytes = 0
  let readers: Readers | undefined
  const take = (): Readers | undefined => {
    const taken = readers
    readers = undefined
    return taken
  }
  return {
    seen(more) {
      const before = bytes
      bytes += more
      if (before < worth && bytes >= worth) readers = start()
    },
    take,
    async close() {
      await take()?.close()
    },
  }
}
