/**
 * The paths that the user has named once, in `places.json` of the archive: looked into with every sync. Not derived from anything, so
 * it is not kept where what is derived may be thrown away.
 */
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { readWholeFile } from '../archive/bytes.ts'
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
  if (all.length === known.length) return
  writeWhole(archive.files, archive.home, NAME, Buffer.from(`${JSON.stringify({ given: all }, null, 2)}\n`))
}
