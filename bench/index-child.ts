/** A process that brings the index of an archive up to date, and says how long that took and how much memory. */
import { openArchive } from '../src/archive/archive.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { peakMb } from './peak-memory.ts'

export type IndexReport = {
  readonly bytes: number
  readonly ms: number
  /** Milliseconds of processor, of all threads. */
  readonly processorMs: number
  readonly peakMb: number
}

const before = process.cpuUsage()
const { bytes, ms } = await catchUpIndex(openArchive(process.argv[2] ?? '', { write: true }))
const { user, system } = process.cpuUsage(before)
const report: IndexReport = {
  bytes,
  ms,
  processorMs: (user + system) / 1000,
  peakMb: peakMb(),
}
process.stdout.write(JSON.stringify(report))
