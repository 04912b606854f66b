/** What became of every record of a file: covered by an entry, kept as an unknown, reported as damage, or, never, nothing. */
import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { raw } from '../src/formats/raw.ts'
import { detect } from '../src/sources/detect.ts'
import { allFormats } from '../src/sources/formats.ts'
import { openSource } from '../src/sources/open.ts'
import type { Origin } from '../src/transcript/entry.ts'
import { readLines, type Line } from '../src/transcript/lines.ts'
import type { SourceFile } from '../src/transcript/source.ts'
import { isObject, parseJson } from '../src/transcript/json.ts'

export type Coverage = {
  readonly file: string
  /** What it was read with: `raw` where nothing was detected. */
  readonly format: string
  readonly records: number
  readonly entries: number
  readonly unknown: number
  readonly damage: number
  /** Records that nothing speaks for, by number. Must be empty. */
  readonly uncovered: readonly number[]
}

/** Every regular file below a folder, in order. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name)
      return statSync(path).isDirectory() ? filesBelow(path) : [path]
    })
}

export async function coverage(path: string, root: string): Promise<Coverage> {
  const source = await openSource(path)
  const found = await detect(source, { formats: allFormats })
  const format = found?.format ?? raw
  let entries = 0
  let unknown = 0
  let damage = 0
  const spoken = new Set<number>()
  const spans: Origin[] = []
  for await (const items of format.read(source)) {
    for (const item of items) {
      if (item.type === 'entry') {
        entries += 1
        if (item.entry.blocks.some((block) => block.type === 'unknown')) unknown += 1
        if (item.entry.origin !== undefined) {
          spoken.add(item.entry.origin.record)
          spans.push(item.entry.origin)
        }
      } else if (item.type === 'damage') {
        damage += 1
        if (item.damage.line !== undefined) spoken.add(item.damage.line)
      }
    }
  }
  const [file] = await source.list()
  const expected = await recordsOf(file as SourceFile)
  // An answer that came in many lines has all of them as its origin.
  const isWithin = ({ byteOffset, byteLength }: RecordLine): boolean =>
    spans.some(
      (one) => one.byteOffset <= byteOffset && byteOffset + byteLength <= one.byteOffset + one.byteLength,
    )
  const uncovered =
    expected === 'document'
      ? entries + damage > 0
        ? []
        : [1]
      : expected.filter((line) => !spoken.has(line.number) && !isWithin(line)).map(({ number }) => number)
  const records = expected === 'document' ? Math.max(1, spoken.size) : expected.length
  return { file: relative(root, path), format: format.id, records, entries, unknown, damage, uncovered }
}

type RecordLine = Pick<Line, 'number' | 'byteOffset' | 'byteLength'>

/** The lines that are records, or `document` where the file is one value over many lines, or text. */
async function recordsOf(file: SourceFile): Promise<readonly RecordLine[] | 'document'> {
  const found: RecordLine[] = []
  let objects = 0
  for await (const lines of readLines(file.chunks())) {
    for (const line of lines) {
      found.push({ number: line.number, byteOffset: line.byteOffset, byteLength: line.byteLength })
      if (line.text === undefined || isObject(parseJson(line.text))) objects += 1
    }
  }
  return found.length > 0 && objects < found.length / 2 ? 'document' : found
}
