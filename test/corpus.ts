/**
 * `npm run corpus -- DIR`: reads every transcript below a folder and prints, kind by kind, what became of each record, and how long the
 * slowest took to be told; reads those on that can be, as if they grew; then imports them all, counts once more in memory what they used and
 * cost, and searches them as going through everything does.
 */
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { judge, type Verdict } from './corpus-kinds.ts'
import { checkFollowedBelow } from './corpus-followed.ts'
import { checkSearches } from './corpus-search.ts'
import { checkTotals } from './corpus-totals.ts'
import { coverage, filesBelow, type Coverage } from './coverage.ts'
import { MOST_MS, ROUNDS, timeDetections } from './detection-time.ts'
import { findNotWrittenBack } from './written-back.ts'

const root = process.argv[2]
if (root === undefined || !existsSync(root)) {
  console.error(root === undefined ? 'name a folder: npm run corpus -- DIR' : `no such folder: ${root}`)
  process.exit(2)
}

const rows: Coverage[] = []
const failures: string[] = []
const changed: string[] = []
for (const path of filesBelow(root)) {
  try {
    const row = await coverage(path, root)
    rows.push(row)
    changed.push(...(await findNotWrittenBack(row.format, path)))
  } catch (error) {
    failures.push(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const kinds = group(rows)
console.log(
  line('kind', 'files', 'records', 'entries', 'unknown', 'damage', 'uncovered', 'detection', 'formats'),
)
for (const [kind, files] of kinds) {
  const sum = (count: (row: Coverage) => number): string =>
    String(files.reduce((total, row) => total + count(row), 0))
  const uncovered = sum((row) => row.uncovered.length)
  const formats = [...new Set(files.map((row) => row.format))].join(', ')
  console.log(
    line(
      kind,
      String(files.length),
      sum((row) => row.records),
      sum((row) => row.entries),
      sum((row) => row.unknown),
      sum((row) => row.damage),
      uncovered,
      verdictsOn(files),
      formats,
    ),
  )
}
for (const row of rows.filter((one) => one.uncovered.length > 0)) {
  console.log(`uncovered: ${row.file}: records ${row.uncovered.slice(0, 10).join(', ')}`)
}
const wrong = rows.filter((row) => judge(row) === 'wrong')
for (const row of wrong) console.log(`detection wrong: ${row.file} as ${row.format}`)
for (const one of changed) console.log(`not written back as it was: ${one}`)
for (const failure of failures) console.log(`failed: ${failure}`)
const missing = rows.reduce((total, row) => total + row.uncovered.length, 0)
console.log(
  `${rows.length} files read, ${failures.length} failed, ${wrong.length} detected wrong, ${missing} records unaccounted for, ${changed.length} files not written back as they were`,
)
const times = await timeDetections(rows.map(({ file }) => join(root, file)))
const over = times.filter(({ ms }) => ms > MOST_MS)
for (const { path, ms } of over) console.log(`slow to tell: ${relative(root, path)}: ${ms.toFixed(2)} ms`)
const slowest = times.at(-1)
if (slowest !== undefined)
  console.log(
    `told in ${slowest.ms.toFixed(2)} ms at most (${relative(root, slowest.path)}), ${times[times.length >> 1]?.ms.toFixed(2)} ms at the median, ${over.length} files in more than ${MOST_MS} ms: processor time, the least of ${ROUNDS}`,
  )
const followed = await checkFollowedBelow(root, rows)
for (const one of followed.differing) console.log(`read on otherwise: ${one}`)
console.log(
  `${followed.logs} logs as they grew: ${followed.sure} of ${followed.moments} times what came was read by itself, ${followed.differing.length} differ from reading the whole`,
)
const totals = await checkTotals(root)
for (const one of totals.differing) console.log(`another bill: ${one}`)
console.log(
  `${totals.sessions} sessions, ${totals.calls} calls, ${totals.tokens} tokens, $${totals.usd.toFixed(2)}: ${totals.differing.length} sessions differ from a count of every call in memory`,
)
const searched = await checkSearches(root)
for (const { query, missing: lacking, extra } of searched.differing)
  console.log(
    `another answer: ${query}: ${lacking.length} not found, ${extra.length} found that do not match`,
  )
console.log(
  `${searched.searches} searches in ${searched.entries} entries: ${searched.differing.length} differ from going through everything`,
)
const bad = [failures, wrong, changed, followed.differing, totals.differing, searched.differing]
process.exit(bad.every(({ length }) => length === 0) && missing === 0 ? 0 : 1)

/** `8 right, 1 unknown as expected`. */
function verdictsOn(files: readonly Coverage[]): string {
  const counts = new Map<Verdict, number>()
  for (const file of files) counts.set(judge(file), (counts.get(judge(file)) ?? 0) + 1)
  return [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ')
}

function kindOf(row: Coverage): string {
  return row.file.split('/')[0] as string
}

function group(all: readonly Coverage[]): Map<string, Coverage[]> {
  const groups = new Map<string, Coverage[]>()
  for (const row of all) groups.set(kindOf(row), [...(groups.get(kindOf(row)) ?? []), row])
  return groups
}

function line(...cells: readonly string[]): string {
  const widths = [26, 6, 8, 8, 8, 7, 10, 34, 0]
  return cells
    .map((cell, at) => (at === 0 || at >= 7 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
    .join(' ')
}
