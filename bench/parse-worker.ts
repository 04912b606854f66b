/** A thread that splits files into lines and parses them, and does nothing else: the least that reading logs can cost. */
import fs from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

for (const path of workerData as readonly string[]) {
  const bytes = fs.readFileSync(path)
  let from = 0
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
    JSON.parse(bytes.toString('utf8', from, end))
    from = end + 1
  }
}
parentPort?.postMessage('done')
