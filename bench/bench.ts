/**
 * `npm run bench`: the hot paths against their bare alternative, as ratios. Ends with exit code 1 when a budget is not kept.
 * Names of benches as arguments run only those; `--quick` takes smaller sizes. `huge` is run when it is named, and what follows it
 * chooses among its cases; so is `chunks`, a row of `proxy` by itself.
 */
import { print, type Result } from './measure.ts'

export type Bench = (sizes: {
  readonly quick: boolean
  /** Cases of a bench that has many; all of them when there are none. */
  readonly chosen?: readonly string[]
}) => Promise<readonly Result[]>

const BENCHES: Readonly<Record<string, () => Promise<{ bench: Bench }>>> = {
  record: () => import('./record.bench.ts'),
  heap: () => import('./heap.bench.ts'),
  read: () => import('./read.bench.ts'),
  convert: () => import('./convert.bench.ts'),
  database: () => import('./database.bench.ts'),
  sync: () => import('./sync.bench.ts'),
  watch: () => import('./watch.bench.ts'),
  list: () => import('./list.bench.ts'),
  detect: () => import('./detect.bench.ts'),
  documents: () => import('./documents.bench.ts'),
  cost: () => import('./cost.bench.ts'),
  search: () => import('./search.bench.ts'),
  index: () => import('./index.bench.ts'),
  outline: () => import('./outline.bench.ts'),
  page: () => import('./page.bench.ts'),
  start: () => import('./start.bench.ts'),
  proxy: () => import('./proxy.bench.ts'),
  wrap: () => import('./wrap.bench.ts'),
  diff: () => import('./diff.bench.ts'),
  replay: () => import('./replay.bench.ts'),
}

/** Parts of the others. */
const PARTS: typeof BENCHES = {
  chunks: () => import('./chunks.bench.ts'),
}

/** Takes an hour and much of the disk. */
const HUGE = 'huge'

const args = process.argv.slice(2)
const quick = args.includes('--quick')
const named = args.filter((arg) => !arg.startsWith('--'))
const cases = named.includes(HUGE) ? named.slice(named.indexOf(HUGE) + 1) : undefined
const chosen = cases === undefined ? named : named.slice(0, named.indexOf(HUGE))
const unknown = chosen.filter((name) => !(name in BENCHES || name in PARTS))
if (unknown.length > 0) {
  console.error(
    `no such bench: ${unknown.join(', ')}; there are ${[...Object.keys(BENCHES), ...Object.keys(PARTS), HUGE].join(', ')}`,
  )
  process.exit(2)
}

const results: Result[] = []
for (const [name, load] of Object.entries({ ...BENCHES, ...PARTS })) {
  if (named.length === 0 ? name in PARTS : !chosen.includes(name)) continue
  console.error(`${name} …`)
  const { bench } = await load()
  results.push(...(await bench({ quick })))
}
if (cases !== undefined) {
  const { bench } = await import('./huge.bench.ts')
  results.push(...(await bench({ quick, chosen: cases })))
}
print(results)
process.exit(results.every((result) => result.ok) ? 0 : 1)
