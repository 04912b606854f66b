/** A thread that reads units for costs: some of them in, their calls out. */
import { parentPort } from 'node:worker_threads'
import { scanUnit, type UnitScan, type UnitToScan } from './cost-unit.ts'

parentPort?.on('message', (units: readonly UnitToScan[]) => {
  const scan = async (): Promise<readonly UnitScan[]> => {
    const scans: UnitScan[] = []
    for (const unit of units) scans.push(await scanUnit(unit))
    return scans
  }
  void scan().then((scans) => parentPort?.postMessage(scans))
})
