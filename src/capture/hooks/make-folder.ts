/**
 * A folder and those that it lies in. Node.js's own recursive way asks for ever where a folder is there and nothing can be made in it, as
 * in `/proc`: whoever calls a hook would wait for it.
 */
import fs from 'node:fs'
import { dirname } from 'node:path'

export function makeFolder(path: string): void {
  const problem = tryToMake(path)
  if (problem === undefined) return
  if (problem.code !== 'ENOENT') throw problem
  const parent = dirname(path)
  // Where it is there by now, another hook has made it, or nothing can be made in it: the next try tells.
  if (!fs.existsSync(parent)) makeFolder(parent)
  const again = tryToMake(path)
  if (again !== undefined) throw again
}

/** That it is there already is no problem. */
function tryToMake(path: string): NodeJS.ErrnoException | undefined {
  try {
    fs.mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const problem: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error))
    return problem.code === 'EEXIST' ? undefined : problem
  }
  return undefined
}
