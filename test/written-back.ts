/** Read and written again in the same format: the records of a file that do not come back with the same JSON values. */
import { isDeepStrictEqual } from 'node:util'
import type { Format } from '../src/formats/format.ts'
import { parseJson, type Json } from '../src/transcript/json.ts'
import type { Source } from '../src/transcript/source.ts'
import { readAll, writeTranscript } from './memory-files.ts'

/** `file:record`, by number from 1, of each that is gone, added or changed. Lines that are damage cannot come back. */
export async function notWrittenBack(format: Format, source: Source): Promise<string[]> {
  const written: { readonly files: readonly (readonly Json[])[] } = { files: await writeAll(format, source) }
  const wrong: string[] = []
  const left = [...written.files]
  for (const file of await source.list()) {
    const given = valuesOf(await file.bytes(Number.MAX_SAFE_INTEGER))
    if (given.length === 0) continue
    const at = left.findIndex((values) => isDeepStrictEqual(values, given))
    if (at !== -1) {
      left.splice(at, 1)
      continue
    }
    const best = left.find((values) => values.length === given.length)
    const number = given.findIndex((value, index) => !isDeepStrictEqual(value, best?.[index]))
    wrong.push(`${file.path}:${number + 1}`)
  }
  return wrong
}

async function writeAll(format: Format, source: Source): Promise<Json[][]> {
  const all: Json[][] = []
  for (const transcript of await readAll(format, source)) {
    for (const bytes of writeTranscript(format, transcript).files.values()) all.push(valuesOf(bytes))
  }
  return all
}

/** The JSON values of a file's lines; `isDeepStrictEqual` minds prototypes, and parsed ones all have the same. */
function valuesOf(bytes: Buffer): Json[] {
  const lines = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split('\n')
  return lines.flatMap((line) => {
    const value = parseJson(line)
    return value === undefined ? [] : [value]
  })
}
