/** The first file of the program: all others come after the code cache, so that they may be in it. Hooks, which agents wait for, need neither. */
import { join } from 'node:path'
import { useCodeCache } from './code-cache.ts'

const [, , command = '', agent, ...args] = process.argv

if (command === 'hook') {
  void import('../capture/hooks/entry.ts').then(({ isHookAgent, takeHook }) => {
    if (isHookAgent(agent) && !args.some((arg) => arg === '--help' || arg === '-h')) takeHook(agent, args)
    else start()
  })
} else start()

function start(): void {
  useCodeCache(join(import.meta.dirname, 'chunks'), command)
  void import('./main.ts').then(({ main }) => main(process.argv))
}
