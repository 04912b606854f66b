/**
 * A program that indexes an archive in threads, a unit a batch, and says how many batches and threads that took.
 *
 *     node index-threads-child.js HOME
 */
import { openArchive } from '../src/archive/archive.ts'
import { catchUpIndex } from '../src/search/indexer.ts'

export type ThreadsReport = {
  readonly units: number
  readonly batches: number
  readonly threads: number
  /** The most that there were at a time. */
  readonly together: number
}

let batches = 0
let threads = 0
let open = 0
let together = 0
process.on('worker', (worker) => {
  threads += 1
  open += 1
  together = Math.max(together, open)
  worker.on('exit', () => (open -= 1))
})
const { units } = await catchUpIndex(openArchive(process.argv[2] ?? '.', { write: true }), {
  batchBytes: 1,
  inThreads: true,
  onProgress: () => (batches += 1),
})
const report: ThreadsReport = { units, batches, threads, together }
process.stdout.write(JSON.stringify(report))
