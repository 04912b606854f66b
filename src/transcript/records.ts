/**
 * JSON Lines as agents really leave them: every line comes back as a record, as damage, or as both. The four kinds of damage
 * seen in the field (torn tail, torn middle, runs of NUL, a stub fused with the next record) each cost the record they hit. Whole
 * records on one line cost nothing.
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

/** How often one bad line is searched for the record behind a stub: bounds the work that a hostile line can ask for. */
const TRIES = 8
/** Records taken from one line; what stands behind them is damage. */
const MOST_ON_A_LINE = 1000

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
  const parts = whole === undefined ? splitRecords(text, mark) : [{ from: 0, to: text.length, value: whole }]
  let from = 0
  let byteOffset = line.byteOffset
  for (const part of parts) {
    byteOffset += Buffer.byteLength(text.slice(from, part.from))
    const own = text.slice(part.from, part.to)
    const byteLength = Buffer.byteLength(own)
    // With NULs inside, a part's own place cannot be told from theirs: each is given the whole line.
    const place = withoutNul === undefined ? { ...line, byteOffset, byteLength } : line
    from = part.to
    byteOffset += byteLength
    if (part.value !== undefined) records.push(toRecord(place, part.value, own))
    else if (part.to < text.length)
      damage.push(
        toDamage('fused', place, name, 'the start of a record, with the next record on the same line'),
      )
    else if (line.ended) damage.push(toDamage('not-json', place, name, 'not JSON'))
    else damage.push(toDamage('torn', place, name, 'the file ends inside this record'))
  }
}

const toRecord = ({ number, byteOffset, byteLength }: Line, value: Json, text: string): JsonRecord => ({
  number,
  byteOffset,
  byteLength,
  value,
  text,
})

/** Without a value: the remains of a record, up to the next one or the end of the line. */
type Part = { readonly from: number; readonly to: number; readonly value?: Json }

/** Whole records that stand one after the other on a line, and the remains of others before, between and behind them. */
function* splitRecords(text: string, mark: string): Generator<Part> {
  const tries = { left: TRIES }
  let from = 0
  for (let count = 0; count < MOST_ON_A_LINE; count += 1) {
    const found = findObject(text, from) ?? findBehindStub(text, { from, mark, tries })
    if (found === undefined) break
    if (text.slice(from, found.from).trim() !== '') yield { from, to: found.from }
    yield found
    from = found.to
  }
  if (text.slice(from).trim() !== '') yield { from, to: text.length }
}

/** The object that begins at a place, past white space; undefined where there is none or it is not whole. */
function findObject(text: string, at: number): Part | undefined {
  const from = at + (/^\s*/.exec(text.slice(at, at + 100))?.[0].length ?? 0)
  const to = text[from] === '{' ? endOfObject(text, from) : undefined
  const value = to === undefined ? undefined : parseJson(text.slice(from, to))
  return to === undefined || value === undefined ? undefined : { from, to, value }
}

function endOfObject(text: string, from: number): number | undefined {
  let depth = 0
  let inString = false
  for (let i = from; i < text.length; i += 1) {
    const character = text[i]
    if (character === '"') inString = !inString
    else if (inString) i += character === '\\' ? 1 : 0
    else if (character === '{') depth += 1
    else if (character === '}') depth -= 1
    if (depth === 0) return i + 1
  }
  return undefined
}

type Stub = { readonly from: number; readonly mark: string; readonly tries: { left: number } }

/** The next whole record behind the stub of one that begins at `from`. */
function findBehindStub(text: string, { from, mark, tries }: Stub): Part | undefined {
  let stub = from
  for (let at = text.indexOf(mark, from + 1); at !== -1; at = text.indexOf(mark, at + 1)) {
    if (tries.left === 0) return undefined
    tries.left -= 1
    if (isNested(text, stub, at)) continue
    const found = findObject(text, at)
    if (found !== undefined) return found
    // Another stub: what follows may be a part of it.
    stub = at
  }
  return undefined
}

/** True where the torn record itself may hold an object: what begins there is a part of it, not the next record. */
function isNested(text: string, from: number, at: number): boolean {
  let inString = false
  let last = ''
  for (let i = from; i < at; i += 1) {
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
