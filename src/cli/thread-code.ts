/** What a thread of the program loads first: its files are compiled from what is kept of them, as the program's own are. */
import { join } from 'node:path'
import { readCodeCache } from './code-cache.ts'

readCodeCache(join(import.meta.dirname, 'chunks'))
