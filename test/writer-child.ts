/**
 * A program that records and says what was acknowledged, one number a line on its standard output, until it is killed or has
 * recorded as many entries as it was asked to.
 *
 *     node writer-child.js FOLDER DURABILITY COUNT SEED [WRITER]
 */
import { writeSync } from 'node:fs'
import { openJournal, type Durability } from '../src/journal/writer.ts'
import { seededRandom } from './faulty-files.ts'
import { first, sampleEntry } from './journal-samples.ts'

const [folder = '.', durability = 'group', count = 'Infinity', seed = '1', writer] = process.argv.slice(2)
const random = seededRandom(Number(seed))
const journal = openJournal({
  folder,
  durability: durability as Durability,
  first,
  ...(writer !== undefined && { writer }),
})

let n = 0

function recordSome(): void {
  for (const until = Math.min(n + 16, Number(count)); n < until; n += 1) {
    if (journal.append({ t: 'entry', entry: sampleEntry(n, textOfSomeSize()) })) writeSync(1, `${n}\n`)
  }
  if (n < Number(count)) setImmediate(recordSome)
  else void journal.close().then((complete) => writeSync(1, complete ? 'complete\n' : 'incomplete\n'))
}

/** Mostly small, sometimes larger than a page, now and then so large that its write takes a while. */
function textOfSomeSize(): string {
  const dice = random()
  const size = dice < 0.9 ? 500 : dice < 0.99 ? 10_000 : 600_000
  return 'x'.repeat(Math.floor(random() * size))
}

recordSome()
