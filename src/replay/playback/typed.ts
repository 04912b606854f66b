/** An answer as it is typed: how much of it stands there after a time. Waits inside of it are shortened as others are. */

/** Milliseconds since the one before, and how many UTF-16 units came. */
export type Beat = readonly [ms: number, length: number]

/** Units that have come by then; `nextMs`: when more does, absent when all has. */
export function typedAt(
  beats: readonly Beat[],
  elapsedMs: number,
  idleMs: number,
): { readonly length: number; readonly nextMs?: number } {
  let [at, length] = [0, 0]
  for (const [ms, more] of beats) {
    at += Math.min(ms, idleMs)
    if (at > elapsedMs) return { length, nextMs: at - elapsedMs }
    length += more
  }
  return { length }
}

/** How long all of it took, as recorded. */
export function typedMs(beats: readonly Beat[]): number {
  return beats.reduce((sum, [ms]) => sum + ms, 0)
}
