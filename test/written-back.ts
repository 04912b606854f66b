/** Read and written again in the same format: the records of a file that do not come back with the same JSON values. */
import { isDeepStrictEqual } from 'node:util'
import { claudeCode } from '../src/formats/claude-code.ts'
import { codex } from '../src/formats/codex.ts'
import type { Format } from '../src/formats/format.ts'
import { pi } from '../src/formats/pi.ts'
import { openSource } from '../src/sources/open.ts'
import { parseJson, type Json } from '../src/transcript/json.ts'
import type { Source } from '../src/transcript/source.ts'
import { readAll, writeTranscript } from './memory-files.ts'

/** Formats that promise it. */
const PROMISED: readonly Format[] = [claudeCode, codex, pi]

/** The same for a file on disk; nothing for a format that promises nothing. */
export async function findNotWrittenBack(format: string, path: string): Promise<string[]> {
  const promised = PROMISED.find(({ id }) => id === format)
  return promised === undefined ? [] : notWrittenBack(promised, await openSource(path))
}

/** `file:record`, by number from 1, of each that is gone, added or changed. Lines that are damage cannot come back. */
export async function notWrittenBack(format: Format, source: Source): Promise<string[]> {
  const wrong: string[] = []
  const left = await writeAll(format, source)
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
