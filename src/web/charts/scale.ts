/** Round numbers for an axis, and where they stand. */

/** From 0 to at least `most`, in at most `count` steps of 1, 2 or 5. */
export function ticksTo(most: number, count = 4): readonly number[] {
  if (!(most > 0) || !Number.isFinite(most)) return [0]
  const rough = most / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10)
  const ticks: number[] = []
  for (let at = 0; ticks.length === 0 || (ticks.at(-1) ?? 0) < most; at += 1) ticks.push(at * step)
  return ticks
}

/** At most so many of them, evenly, the first among them. */
export function everyNth<T>(values: readonly T[], most: number): ReadonlySet<T> {
  const step = Math.max(1, Math.ceil(values.length / most))
  return new Set(values.filter((_, at) => at % step === 0))
}

const SECOND = 1000
const [MINUTE, HOUR, DAY] = [60 * SECOND, 3600 * SECOND, 24 * 3600 * SECOND]
const SPANS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((count) => count * DAY),
]

/** Milliseconds from 0 up to `ms`, in at most `count` steps that clocks have. */
export function timesTo(ms: number, count = 5): readonly number[] {
  const step = SPANS.find((span) => span * count >= ms) ?? Math.max(1, ms)
  return Array.from({ length: Math.floor(ms / step) + 1 }, (_, at) => at * step)
}
