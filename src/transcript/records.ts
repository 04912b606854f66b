/**
 * JSON Lines as agents really leave them: every line comes back as a record, as damage, or as both. The four kinds of damage
 * seen in the field (torn tail, torn middle, runs of NUL, a stub fused with the next record) each cost the record they hit.
 */
import type { Damage, DamageKind } from './damage.ts'
import { isObject, parseJson, type Json } from './json.ts'
import { readLines, type Line } from './lines.ts'
import { isLongRecord } from './long-records.ts'
import type { SourceFile } from './source.ts'

export type JsonRecord = {
  /** The line it stands on, from 1. */
  readonly number: number
  readonly byteOffset: number
  readonly byteLength: number
  readonly value: Json
  /** The line's own text; for a record salvaged out of a line, its part; of one of many MB without its longest strings. */
  readonly text: string
  /** Where long strings of the record were cut (cut-records.ts): all of it, for as long as no more records are asked for. */
  readonly whole?: () => Json
}

export type RecordBatch = { readonly records: readonly JsonRecord[]; readonly damage: readonly Damage[] }

/** The records of a JSON Lines file, batch by batch. `name` is what damage calls the file. */
export async function* readRecords(file: SourceFile, name: string = file.path): AsyncGenerator<RecordBatch> {
  const taker = createLineTaker(name)
  for await (const lines of readLines(file.chunks(), { isJson: true })) {
    const records: JsonRecord[] = []
    const damage: Damage[] = []
    // Not in this frame: it would hold on to the last of them while the next are read.
    lines.forEach((line) => taker.take(line, records, damage))
    yield { records, damage }
    // Whoever asks for more is done with these; a frame that waits would hold on to lines of many MB while the next are read.
    if (records.some(isLongRecord)) records.length = 0
  }
}

export type LineTaker = {
  /** Puts what a line holds to the records, the damage, or both. */
  take(line: Line, records: JsonRecord[], damage: Damage[]): void
  /** The text of an object on a line that was not taken here. */
  passed(text: string): void
}

/** For the lines of one file. */
export function createLineTaker(name: string): LineTaker {
  /** How records of this file begin, learnt from the last good one: where a fused line is looked at again. */
  let mark = '{"'
  const passed = (text: string): void => {
    const begin = text.slice(0, Math.max(2, text.indexOf('":') + 2))
    // A copy: a part of a text holds on to all of it.
    if (begin !== mark) mark = Buffer.from(begin).toString()
  }
  return {
    passed,
    take(line, records, damage) {
      const value = line.value ?? (line.text === undefined ? undefined : parseJson(line.text))
      if (value === undefined) {
        salvage(line, name, mark, records, damage)
        return
      }
      if (!line.isUtf8)
        damage.push(toDamage('not-utf8', line, name, 'bytes that are no UTF-8, read as U+FFFD'))
      const text = line.text as string
      const { number, byteOffset, byteLength } = line
      records.push({ number, byteOffset, byteLength, value, text })
      if (isObject(value)) passed(text)
    },
  }
}

/** How often one bad line is tried again: bounds the work that a hostile line can ask for. */
const TRIES = 8

function salvage(line: Line, name: string, mark: string, records: JsonRecord[], damage: Damage[]): void {
  if (line.text === undefined) {
    const size = `a record of ${line.byteLength} bytes, over the limit`
    damage.push(toDamage('too-large', line, name, size))
    return
  }
  const withoutNul = line.text.includes('\0') ? line.text.replaceAll('\0', '') : undefined
  if (withoutNul !== undefined) {
    damage.push(toDamage('nul', line, name, `${line.text.length - withoutNul.length} NUL bytes`))
    if (withoutNul.trim() === '') return
  }
  const text = withoutNul ?? line.text
  const whole = withoutNul === undefined ? undefined : parseJson(text)
  const found = whole === undefined ? findFused(text, mark) : { value: whole, at: 0 }
  if (found === undefined) {
    if (line.ended) damage.push(toDamage('not-json', line, name, 'not JSON'))
    else damage.push(toDamage('torn', line, name, 'the file ends inside this record'))
    return
  }
  const part = text.slice(found.at)
  const before = Buffer.byteLength(text.slice(0, found.at))
  if (found.at > 0) {
    const stub = { ...line, byteLength: before }
    damage.push(toDamage('fused', stub, name, 'the start of a record, with the next record on the same line'))
  }
  // With NULs inside, the record's own place cannot be told from theirs: it is given the rest of the line.
  const skipped = withoutNul === undefined ? before : 0
  const place = {
    number: line.number,
    byteOffset: line.byteOffset + skipped,
    byteLength: line.byteLength - skipped,
  }
  records.push({ ...place, value: found.value, text: part })
}

/** The record that begins inside a line after the stub of another. */
function findFused(text: string, mark: string): { value: Json; at: number } | undefined {
  let at = text.indexOf(mark, 1)
  for (let tries = 0; at !== -1 && tries < TRIES; tries += 1) {
    const value = isNested(text, at) ? undefined : parseJson(text.slice(at))
    if (isObject(value)) return { value, at }
    at = text.indexOf(mark, at + 1)
  }
  return undefined
}

/** True where the torn record itself may hold an object: what begins there is a part of it, not the next record. */
function isNested(text: string, at: number): boolean {
  let inString = false
  let last = ''
  for (let i = 0; i < at; i += 1) {
    const character = text[i] as string
    if (inString && character === '\\') i += 1
    else if (character === '"') inString = !inString
    else if (!inString && character !== ' ') last = character
  }
  return !inString && (last === ':' || last === ',' || last === '[') && text[at - 1] !== '"'
}

function toDamage(kind: DamageKind, line: Line, file: string, reason: string): Damage {
  const { number, byteOffset, byteLength } = line
  return { kind, file, line: number, byteOffset, byteLength, reason }
}
