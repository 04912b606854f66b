/**
 * Work that follows what is taken in, done when nothing new has come for a moment, and at the latest after a while: one line a second
 * makes one catch-up of many lines. One at a time; what comes while it runs is for the next.
 */
export type WhenQuiet = {
  /** Something was taken in. */
  touch(): void
  /** Waits for the work at hand, which stops soon. */
  end(): Promise<void>
}

const QUIET_MS = 2000
const LATEST_MS = 15_000
/** For whoever catches up step by step: small ones, so that an end is soon. */
export const STEP_BYTES = 8 * 1024 * 1024

export function whenQuiet(
  work: (signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): WhenQuiet {
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let since: number | undefined
  let running: Promise<void> | undefined
  const start = (): void => {
    if (running !== undefined) return void (timer = setTimeout(start, QUIET_MS))
    since = undefined
    running = work(ending.signal)
      .catch(onError)
      .finally(() => (running = undefined))
  }
  return {
    touch() {
      if (ending.signal.aborted) return
      const now = Date.now()
      since ??= now
      clearTimeout(timer)
      timer = setTimeout(start, Math.max(0, Math.min(QUIET_MS, since + LATEST_MS - now)))
    },
    async end() {
      ending.abort()
      clearTimeout(timer)
      await running
    },
  }
}
