/** A small JSON file beside a log, taken in whole. What cannot be is damage, never an error. */
import { isHansardError } from '../errors.ts'
import type { Damage, DamageKind } from '../transcript/damage.ts'
import { parseJson, type Json } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'

export type Document = {
  readonly raw: Json
  readonly bytes: number
  readonly damage?: Damage
}

/** Sidecars are a few KB; past this the file is not what it says. */
const DOCUMENT_LIMIT = 8 * 1024 * 1024

export async function readDocument(file: SourceFile): Promise<Document> {
  const text = await readText(file)
  if (typeof text !== 'string') return { raw: null, bytes: 0, damage: text }
  const raw = parseJson(text.replace(/^\uFEFF/, ''))
  if (raw !== undefined) return { raw, bytes: Buffer.byteLength(text) }
  return { raw: null, bytes: 0, damage: toDamage(file, 'not-json', 'not JSON') }
}

/** The file's text, or the damage that keeps it from being read. */
export async function readText(file: SourceFile): Promise<string | Damage> {
  try {
    return (await file.bytes(DOCUMENT_LIMIT)).toString('utf8')
  } catch (error) {
    if (!isHansardError(error) || error.code !== 'too-large') throw error
    return toDamage(file, 'too-large', `over ${DOCUMENT_LIMIT} bytes`)
  }
}

function toDamage(file: SourceFile, kind: DamageKind, reason: string): Damage {
  return { kind, file: file.path, byteOffset: 0, byteLength: file.sizeBytes, reason }
}
