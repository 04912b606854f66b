/** The first records of a file: what formats look at to tell whose it is. Content decides; names and labels do not. */
import { isObject, parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'

/** Enough for the dozens of state records that some agents write before the first message. */
const HEAD_BYTES = 64 * 1024

export type Head = {
  /** The objects among the first lines; empty when the file is one document over several lines. */
  readonly records: readonly JsonObject[]
  /** The whole file as one JSON value, where it is one and fits in the head. */
  readonly document: Json | undefined
  /** Lines that are no JSON, torn last one not counted. */
  readonly strange: number
  readonly text: string
}

export async function readHead(file: SourceFile): Promise<Head> {
  const bytes = await file.head(HEAD_BYTES)
  const isWhole = bytes.length < HEAD_BYTES
  const text = bytes.toString('utf8')
  const lines = text.split('\n')
  // Cut in the middle of a record, the last line says nothing.
  if (!isWhole && lines.length > 1) lines.pop()
  const records: JsonObject[] = []
  let strange = 0
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const value = parseJson(index === 0 ? line.replace(/^\uFEFF/, '') : line)
    if (isObject(value)) records.push(value)
    else if (value === undefined && index < lines.length - 1) strange += 1
  }
  const document = isWhole ? parseJson(text.replace(/^\uFEFF/, '')) : undefined
  return { records: strange > records.length ? [] : records, document, strange, text }
}
