/**
 * `npm run redaction`: what the redactor finds of a corpus of invented secrets. `npm run redaction -- FOLDER …`: what it takes out of files
 * that hold none, 0.2 in 100 KB at most. Exits 1 when a promise is broken.
 */
import { createRedactor } from '../../src/redact/redactor.ts'
import { measureCleanFiles, MOST_TAKEN } from './clean-files.ts'
import { makeCorpus, measureCorpus } from './measure.ts'
import { brokenPromises } from './promises.ts'
import { formTable, kindTable } from './tables.ts'

const folders = process.argv.slice(2)
process.exitCode = (folders.length > 0 ? printCleanFiles() : printCorpus()) ? 0 : 1

function printCorpus(): boolean {
  const measured = measureCorpus(makeCorpus())
  const { values, carriers, forms, missed } = measured
  console.log(`${values} invented values of ${carriers} vendors and carriers, in ${forms.length} forms\n`)
  console.log(`${kindTable(measured)}\n\n${formTable(measured)}\n\nNot found as they are:`)
  for (const { kind, carrier, text } of missed) console.log(`  ${kind}: ${carrier}: ${JSON.stringify(text)}`)
  const broken = brokenPromises(measured)
  for (const promise of broken) console.log(`BROKEN  ${promise}`)
  return broken.length === 0
}

function printCleanFiles(): boolean {
  const { files, bytes, taken } = measureCleanFiles(folders, createRedactor({ key: Buffer.alloc(32, 7) }))
  const rate = taken.length / (bytes / 100_000)
  for (const { file, rule, line } of taken) console.log(`${rule}  ${file}\n    ${around(line)}`)
  console.log(
    `${taken.length} taken out of ${files} files, ${(bytes / 1e6).toFixed(1)} MB: ${rate.toFixed(3)} in 100 KB`,
  )
  return rate <= MOST_TAKEN
}

/** The line near what was taken out. */
function around(line: string): string {
  const at = line.indexOf('[REDACTED:')
  return line.slice(Math.max(0, at - 60), at + 80).trim()
}
