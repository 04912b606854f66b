/** How this program was called, for commands to copy: by its own name, or by its file. */
import { basename, relative } from 'node:path'

export function programName(): string {
  const called = process.argv[1] ?? ''
  return basename(called) === 'hansard' ? 'hansard' : `node ${relative(process.cwd(), called)}`
}
