/**
 * What a user said that kept files are in, in `formats.json` beside them: `{"<path>": "<format>"}`. Their bytes do not tell it, so it lies
 * where a state that is built again from what is kept finds it. Absent for nearly all places.
 */
import { join } from 'node:path'
import { writeWhole, type Files } from '../journal/files.ts'
import { asObject, parseJson } from '../transcript/json.ts'
import { readWholeFile } from './bytes.ts'

export type NamedFormats = {
  of(path: string): string | undefined
  /** On disk when it returns. Gives those that were not known to be in it. */
  name(paths: readonly string[], format: string): readonly string[]
  forget(path: string): void
}

const NAME = 'formats.json'

export function openNamed(files: Files, folder: string): NamedFormats {
  const at = join(folder, NAME)
  let known: { readonly stamp: string; readonly formats: ReadonlyMap<string, string> } | undefined
  /** Another process may have named some since. */
  const read = (): ReadonlyMap<string, string> => {
    const identity = files.identityAt(at)
    if (identity === undefined) return NONE
    const stamp = `${identity.ino}:${identity.size}:${identity.modified}`
    if (known?.stamp !== stamp) known = { stamp, formats: parse(readWholeFile(files, at)) }
    return known.formats
  }
  const write = (formats: ReadonlyMap<string, string>): void => {
    known = undefined
    writeWhole(files, folder, NAME, Buffer.from(`${JSON.stringify(Object.fromEntries(formats), null, 2)}\n`))
  }
  return {
    of: (path) => read().get(path),
    name(paths, format) {
      const before = read()
      const changed = paths.filter((path) => before.get(path) !== format)
      if (changed.length > 0) write(new Map([...before, ...changed.map((path) => [path, format] as const)]))
      return changed
    },
    forget(path) {
      const before = read()
      if (before.has(path)) write(new Map([...before].filter(([one]) => one !== path)))
    },
  }
}

const NONE: ReadonlyMap<string, string> = new Map()

function parse(bytes: Buffer | undefined): ReadonlyMap<string, string> {
  const said = Object.entries(asObject(parseJson(bytes?.toString('utf8') ?? '')) ?? {})
  return new Map(
    said.flatMap(([path, format]) => (typeof format === 'string' ? [[path, format] as const] : [])),
  )
}
