/** Two ways of doing the same, in one run, turn about: machines are noisy, ratios less so. */

export type Result = {
  readonly name: string
  readonly ratio: number
  readonly budget: string
  readonly ok: boolean
  readonly detail: string
}

/** The median of each way's rounds, in milliseconds, after one round that does not count. */
export async function compare(
  ways: Readonly<Record<string, () => void | Promise<void>>>,
  rounds = 9,
): Promise<Readonly<Record<string, number>>> {
  const times: Record<string, number[]> = {}
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, work] of Object.entries(ways)) {
      globalThis.gc?.()
      const started = performance.now()
      await work()
      if (round >= 0) (times[name] ??= []).push(performance.now() - started)
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]))
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** That many of one are below it. */
export function quantile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN
}

export function atMost(name: string, value: number, limit: number, detail: string): Result {
  return { name, ratio: value, budget: `≤ ${limit}`, ok: value <= limit, detail }
}

export function atLeast(name: string, value: number, limit: number, detail: string): Result {
  return { name, ratio: value, budget: `≥ ${limit}`, ok: value >= limit, detail }
}

/** For what nobody set a limit to. */
export function shown(name: string, value: number, detail: string): Result {
  return { name, ratio: value, budget: '', ok: true, detail }
}

export function print(results: readonly Result[]): void {
  const rows = results.map((r) => [r.ok ? 'ok  ' : 'OVER', r.ratio.toFixed(2), r.budget, r.name, r.detail])
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] as string).length)))
  for (const row of rows) console.log(row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
}
