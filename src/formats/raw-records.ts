/**
 * Any file as records, when it is nobody's: each line of JSON Lines, each element of a JSON list, a JSON document whole, each
 * line of a text as a string. Nothing is refused and nothing is skipped.
 */
import { isHansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import { parseJson, type Json } from '../transcript/json.ts'
import { RECORD_LIMIT, readLines, type Line } from '../transcript/lines.ts'
import type { JsonRecord, RecordBatch } from '../transcript/records.ts'
import type { SourceFile } from '../transcript/source.ts'

const HEAD_BYTES = 64 * 1024
const AT_A_TIME = 2000

export async function* readRawRecords(file: SourceFile): AsyncGenerator<RecordBatch> {
  const head = (await file.head(HEAD_BYTES)).toString('utf8').replace(/^\uFEFF/, '')
  const end = head.indexOf('\n')
  const isJsonLines = end !== -1 && parseJson(head.slice(0, end)) !== undefined
  if (!isJsonLines && /^\s*[{[]/.test(head)) {
    const batch = await readWhole(file)
    if (batch !== undefined) {
      yield batch
      return
    }
  }
  for await (const lines of readLines(file.chunks())) {
    // A chunk of tiny lines is a hundred thousand of them.
    for (let from = 0; from < lines.length; from += AT_A_TIME)
      yield fromLines(lines.slice(from, from + AT_A_TIME), file.path, isJsonLines)
  }
}

/** The document's records; undefined when the file only looks like one at its start. */
async function readWhole(file: SourceFile): Promise<RecordBatch | undefined> {
  let bytes: Buffer
  try {
    bytes = await file.bytes(RECORD_LIMIT)
  } catch (error) {
    if (!isHansardError(error) || error.code !== 'too-large') throw error
    const reason = `a document of over ${RECORD_LIMIT} bytes`
    const place = { file: file.path, line: 1, byteOffset: 0, byteLength: file.sizeBytes }
    return { records: [], damage: [{ kind: 'too-large', ...place, reason }] }
  }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  const value = parseJson(text)
  if (value === undefined) return undefined
  const place = { byteOffset: 0, byteLength: bytes.length, text }
  const values: readonly Json[] = Array.isArray(value) ? value : [value]
  return { records: values.map((value, index) => ({ number: index + 1, ...place, value })), damage: [] }
}

const BEGINS = /^\s*["[{tfn\d-]/

function fromLines(lines: readonly Line[], file: string, isJsonLines: boolean): RecordBatch {
  const records: JsonRecord[] = []
  const damage: Damage[] = []
  for (const { number, byteOffset, byteLength, ended, text, isUtf8 } of lines) {
    const place = { file, line: number, byteOffset, byteLength }
    if (text === undefined) {
      const reason = `a record of ${byteLength} bytes, over the limit`
      damage.push({ kind: 'too-large', ...place, reason })
      continue
    }
    // What is no JSON costs an exception each time.
    const value = BEGINS.test(text) ? parseJson(text) : undefined
    records.push({ number, byteOffset, byteLength, value: value ?? text, text })
    if (!isUtf8)
      damage.push({ kind: 'not-utf8', ...place, reason: 'bytes that are no UTF-8, read as U+FFFD' })
    if (value !== undefined || !isJsonLines) continue
    if (text.includes('\0')) damage.push({ kind: 'nul', ...place, reason: 'NUL bytes' })
    else if (ended) damage.push({ kind: 'not-json', ...place, reason: 'not JSON' })
    else damage.push({ kind: 'torn', ...place, reason: 'the file ends inside this record' })
  }
  return { records, damage }
}
