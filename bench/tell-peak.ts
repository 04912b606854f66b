/** Imported before a program: its first thread, which ends last, says on stderr what all of it took. `peak-memory.ts` reads that. */
import { isMainThread } from 'node:worker_threads'
import { peakMb } from './peak-memory.ts'

if (isMainThread) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage()
    const processorMs = (userCPUTime + systemCPUTime) / 1000
    process.stderr.write(`\npeak=${peakMb().toFixed(1)} MB, processor=${processorMs.toFixed(1)} ms\n`)
  })
}
