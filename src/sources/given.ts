/**
 * The paths that the user has named once, in `places.json` of the archive: looked into with every sync. Not derived from anything, so
 * it is not kept where what is derived may be thrown away.
 */
import fs from 'node:fs'
import { join, resolve } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { readWholeFile } from '../archive/bytes.ts'
import { HansardError } from '../errors.ts'
import { writeWhole } from '../journal/files.ts'
import { asArray, asObject, parseJson } from '../transcript/json.ts'

const NAME = 'places.json'

/** Absolute, sorted. */
export function givenPaths({ files, home }: Archive): readonly string[] {
  const text = readWholeFile(files, join(home, NAME))?.toString('utf8') ?? ''
  const given = asArray(asObject(parseJson(text))?.['given']) ?? []
  return given.filter((path) => typeof path === 'string').sort()
}

export function rememberGiven(archive: Archive, paths: readonly string[]): void {
  const known = givenPaths(archive)
  const all = [...new Set([...known, ...paths])].sort()
  if (all.length > known.length) write(archive, all)
}

/** They are not looked into any more; what was kept of them stays. Throws `not-found` for one that was never named, and forgets none. */
export function forgetGiven(archive: Archive, paths: readonly string[]): void {
  const known = new Set(givenPaths(archive))
  const gone = paths.map((path) => {
    const named = [resolve(path), realPath(path)].find((one) => known.has(one))
    if (named === undefined)
      throw new HansardError('not-found', `${path} is no path that sync was given`, {
        hint: known.size === 0 ? 'it was given none so far' : `it was given ${[...known].join(', ')}`,
      })
    return named
  })
  write(
    archive,
    [...known].filter((path) => !gone.includes(path)),
  )
}

/** As it was when it was named: what is there by its one real name, what is gone as it is written. */
export function realPath(path: string): string {
  try {
    return fs.realpathSync(path)
  } catch {
    return path
  }
}

function write({ files, home }: Archive, given: readonly string[]): void {
  writeWhole(files, home, NAME, Buffer.from(`${JSON.stringify({ given }, null, 2)}\n`))
}
