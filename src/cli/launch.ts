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
  const words = process.argv.slice(3)
  // Words and nothing else: options, and what a minus excludes, are for the program to tell apart.
  if (command !== 'search' || words.length === 0 || words.some((word) => word.startsWith('-'))) startAll()
  else
    void import('./quick-search.ts')
      .then(({ searchQuickly }) => searchQuickly(words))
      .then((isDone) => {
        if (!isDone) startAll()
        // What was opened goes with the process. On Windows, terminals are written to later.
        else if (process.platform !== 'win32') process.exit()
      })
}

function startAll(): void {
  void import('./main.ts').then(({ main }) => main(process.argv))
}
