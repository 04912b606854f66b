/** What is left in memory when all is collected that can be: when V8 looks by itself is its own affair. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose_gc')
const collect = runInNewContext('gc') as () => void

/** `arrayBuffers`: those alone, which V8 counts in a thread of its own when they are let go of. */
export function heldBytes(kind: 'heapUsed' | 'arrayBuffers' = 'heapUsed'): number {
  collect()
  return process.memoryUsage()[kind]
}
