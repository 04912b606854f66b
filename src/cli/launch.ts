/** The first file of the program: all others come after the code cache, so that they may be in it. */
import { join } from 'node:path'
import { useCodeCache } from './code-cache.ts'

useCodeCache(join(import.meta.dirname, 'chunks'), process.argv[2] ?? '')
void import('./main.ts').then(({ main }) => main(process.argv))
