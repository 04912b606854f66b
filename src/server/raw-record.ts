/** The record that an entry was read from, as it lies, without secrets. */
import { readRecordBytes, type Readable } from '../search/outline-read.ts'
import type { OutlineRow } from '../search/outline-row.ts'
import { parseJson, toJson } from '../transcript/json.ts'
import type { RawAnswer } from './api.ts'
import type { AskingContext } from './context.ts'

/** `longest`: characters of it that are given. Undefined for what has no record of its own, or whose file is gone. */
export async function rawRecord(
  readable: Readable,
  row: OutlineRow,
  { redactor }: Pick<AskingContext, 'redactor'>,
  longest: number,
): Promise<RawAnswer | undefined> {
  const bytes = await readRecordBytes(readable, row)
  if (bytes === undefined) return undefined
  const text = rawText(bytes.toString(), { redactor })
  return {
    file: redactor.text(readable.files[row.file - 1] ?? ''),
    byteOffset: row.byteOffset,
    byteLength: row.byteLength,
    text: text.slice(0, longest),
    ...(text.length > longest && { cut: Buffer.byteLength(text) }),
  }
}

/** As it lies where no secret is in it; else the same value without them. */
function rawText(text: string, { redactor }: Pick<AskingContext, 'redactor'>): string {
  const value = parseJson(text)
  if (value === undefined) return redactor.text(text)
  try {
    const clean = redactor.json(value)
    return redactor.text(clean === value ? text : toJson(clean))
  } catch {
    return 'withheld: it is nested deeper than secrets are looked for'
  }
}
