/** A thread that reads units for costs: those that nobody else has taken, and their calls out, some at a time. Told what to read as often as there is something. */
import { parentPort } from 'node:worker_threads'
import { takeUnits, type Work } from './cost-work.ts'

/** A message for each unit would take longer than small ones to read. */
const TOGETHER = 32

const scans: unknown[] = []
const send = (isLast: boolean): void => {
  parentPort?.postMessage({ scans: scans.splice(0), isLast })
}
parentPort?.on('message', (work: Work) => {
  void takeUnits(work, (number, scan) => {
    scans.push([number, scan])
    if (scans.length >= TOGETHER) send(false)
  }).then(() => send(true))
})
