/**
 * The records of a JSON Lines file without their longest strings: the same records, damage and places as `readRecords` gives, in
 * batches of the same lines. A line that is odd in any way (torn, not UTF-8, very long, spelled as few programs do) is read as it is there.
 * Of a line whose shape is known nothing is parsed before it is asked for.
 */
import { isUtf8 } from 'node:buffer'
import { LINES_AT, type Cutter } from './cut-strings.ts'
import type { Damage } from './damage.ts'
import { parseJson, type Json } from './json.ts'
import type { LineShapes, ShapePart } from './line-shapes.ts'
import { createOpenLine, MOST_LINES, RECORD_LIMIT, toLine } from './lines.ts'
import { createLineTaker, type JsonRecord, type RecordBatch } from './records.ts'
import type { ShortFile, SourceFile } from './source.ts'

/** Longer ones are put together and looked at elsewhere: below this length no text can fill memory. */
const LONG_BYTES = 512 * 1024

const [NEWLINE, OPEN, CLOSE] = [0x0a, 0x7b, 0x7d] as const

/** What is known of lines by their shape, and how more is learnt. */
export type Learning<P> = {
  readonly shapes: LineShapes<Known<P>>
  /** `line`: its bytes as Latin-1. `value`: what it says, perhaps cut. Undefined for a line that the next ones will not be like. */
  readonly learn: (
    line: () => string,
    value: Json,
  ) => { readonly parts: readonly ShapePart[]; readonly plan: P } | undefined
}

/** `begin`: what lines of a shape begin with. */
export type Known<P> = { readonly plan: P; readonly begin: string }

/**
 * A record of a known shape: `plan` is what was learnt of it, and where its values are is told from `valuesAt` on, for as long as no
 * more records are asked for. What it says is parsed when it is asked.
 */
export class ShapedRecord<P> implements JsonRecord {
  readonly number: number
  readonly byteOffset: number
  readonly byteLength: number
  readonly plan: P
  readonly valuesAt: number
  /** Where it stands, and in what. */
  readonly at: number
  readonly room: Buffer

  constructor(place: Pick<JsonRecord, 'number' | 'byteOffset' | 'byteLength'>, found: Found<P>) {
    this.number = place.number
    this.byteOffset = place.byteOffset
    this.byteLength = place.byteLength
    this.plan = found.plan
    this.valuesAt = found.valuesAt
    this.at = found.at
    this.room = found.room
  }

  get text(): string {
    return this.room.toString('utf8', this.at, this.at + this.byteLength)
  }

  get value(): Json {
    return parseJson(this.text) as Json
  }
}

type Found<P> = {
  readonly plan: P
  readonly valuesAt: number
  readonly at: number
  readonly room: Buffer
}

/** `cutter` is nobody else's while this goes on. */
export async function* readCutRecords<P>(
  file: SourceFile,
  cutter: Cutter,
  learning?: Learning<P>,
): AsyncGenerator<RecordBatch> {
  latest = createCutLines(cutter, file.path, learning)
  const lines = latest
  for await (const chunk of file.chunks({ isPassing: true })) {
    for (let batch: Batch | undefined = lines.push(chunk); batch !== undefined; batch = lines.more()) {
      if (isEmpty(batch)) continue
      yield batch
      // Whoever asks for more is done with these, or has a copy.
      batch.records.length = 0
    }
  }
  const last = lines.end()
  if (!isEmpty(last)) yield last
}

/** The same of a file that need not be waited for, batch by batch; undefined at the end. */
export function cutRecordsOf<P>(
  name: string,
  { first, next }: Pick<ShortFile, 'first' | 'next'>,
  cutter: Cutter,
  learning?: Learning<P>,
): () => RecordBatch | undefined {
  latest = createCutLines(cutter, name, learning)
  const lines = latest
  let chunk = first
  let isOver = false
  return () => {
    for (let more = lines.more(); more !== undefined; more = lines.more()) if (!isEmpty(more)) return more
    while (chunk.length > 0) {
      const batch = lines.push(chunk)
      chunk = next()
      if (!isEmpty(batch)) return batch
    }
    if (isOver) return undefined
    isOver = true
    const last = lines.end()
    return isEmpty(last) ? undefined : last
  }
}

function isEmpty({ records, damage }: RecordBatch): boolean {
  return records.length === 0 && damage.length === 0
}

/** Held until there is another: what was compiled of its functions goes with the last of them. */
let latest: CutLines | undefined

type Batch = { readonly records: JsonRecord[]; readonly damage: Damage[] }

type CutLines = {
  push(chunk: Buffer): Batch
  /** What was left of the last chunk, until it is undefined: a chunk may be of nothing but very short lines. */
  more(): Batch | undefined
  end(): Batch
}

/** `name` is what damage calls the file. */
function createCutLines<P>(cutter: Cutter, name: string, learning: Learning<P> | undefined): CutLines {
  const taker = createLineTaker(name)
  /** A line that is too long to be cut. */
  const open = createOpenLine(RECORD_LIMIT, true)
  let room = cutter.room(0)
  let number = 1
  let offset = 0
  /** The line that the last chunk ended in. It is moved with the next one: until then records point behind it. */
  let heldAt = LINES_AT
  let held = 0
  /** The last record that was not taken as it is, or its beginning: what its file's records begin like. */
  let lastText: string | undefined
  /** Where the next line begins, and where all of them end. */
  let at = LINES_AT
  let end = LINES_AT

  const take = (bytes: Buffer | undefined, length: number, ended: boolean, batch: Batch): void => {
    if (lastText !== undefined) taker.passed(lastText)
    lastText = undefined
    const isJson = bytes !== undefined && open.isOwn(bytes)
    for (const line of toLine(bytes, length, { number, byteOffset: offset, ended, isJson }))
      taker.take(line, batch.records, batch.damage)
    number += 1
    offset += length + (ended ? 1 : 0)
  }

  /** The record on a line whose shape is known. */
  const shapedLine = (at: number, out: number, { shapes }: Learning<P>): JsonRecord | undefined => {
    const known = shapes.match(at)
    if (known === undefined) return undefined
    const end = shapes.end()
    const byteLength = end - at
    if (end >= out - 1 || byteLength >= LONG_BYTES) return undefined
    if (!shapes.isAscii() && !isUtf8(room.subarray(at, end))) return undefined
    lastText = known.begin
    const place = { number, byteOffset: offset, byteLength }
    return new ShapedRecord(place, { plan: known.plan, valuesAt: shapes.valuesAt(), at, room })
  }
  const learn = ({ shapes, learn: toShape }: Learning<P>, at: number, end: number, value: Json): void => {
    if (shapes.isFull()) return
    const learnt = toShape(() => room.toString('latin1', at, end), value)
    if (learnt === undefined) return
    const { parts, plan } = learnt
    shapes.learn(parts, { plan, begin: parts[0]?.text ?? '{"' })
  }

  /** The record on a line, cut; undefined where it has to be looked at as it is. */
  const cutLine = (at: number, out: number): JsonRecord | undefined => {
    if (room[at] !== OPEN) return undefined
    const left = cutter.cut(at, out)
    if (left === -1) return undefined
    const end = cutter.end()
    const length = end - at
    // The last byte before `out` is no end of a line.
    if (end >= out - 1 || length >= LONG_BYTES || room[end - 1] !== CLOSE) return undefined
    const isCut = cutter.cuts() > 0
    const from = isCut ? out : at
    const to = isCut ? out + left : end
    const isAscii = cutter.isAscii()
    if (!isAscii && !isUtf8(room.subarray(at, end))) return undefined
    const text = room.toString(isAscii ? 'latin1' : 'utf8', from, to)
    const value = parseJson(text)
    if (value === undefined) return undefined
    lastText = text
    if (learning !== undefined) learn(learning, at, end, value)
    if (!isCut) return { number, byteOffset: offset, byteLength: length, value, text }
    const here = room
    const whole = (): Json => parseJson(here.toString('utf8', at, end)) as Json
    return { number, byteOffset: offset, byteLength: length, value, text, whole }
  }

  /** With the lines from `at` on, as many as a batch takes. */
  const fill = (batch: Batch): void => {
    learning?.shapes.rewind()
    while (at < end) {
      if (batch.records.length + batch.damage.length >= MOST_LINES) return
      const shaped = learning === undefined ? undefined : shapedLine(at, end + 1, learning)
      const record = shaped ?? cutLine(at, end + 1)
      if (record !== undefined) {
        batch.records.push(record)
        number += 1
        offset += record.byteLength + 1
        at += record.byteLength + 1
        continue
      }
      const newline = room.indexOf(NEWLINE, at)
      if (newline >= end) break
      take(room.subarray(at, newline), newline - at, true, batch)
      at = newline + 1
    }
    heldAt = at
    held = end - at
    at = end
    if (held < LONG_BYTES) return
    open.add(room.subarray(heldAt, end))
    held = 0
  }

  return {
    push(chunk) {
      const batch: Batch = { records: [], damage: [] }
      let from = 0
      if (open.length > 0) {
        const at = chunk.indexOf(NEWLINE)
        if (at === -1) {
          open.add(chunk)
          return batch
        }
        const length = open.length + at
        take(open.end(chunk.subarray(0, at)), length, true, batch)
        from = at + 1
      }
      if (held > 0) room.copyWithin(LINES_AT, heldAt, heldAt + held)
      end = LINES_AT + held + chunk.length - from
      // The line that is cut stands behind all of them and the end of the last.
      room = cutter.room(2 * (end - LINES_AT) + 1)
      chunk.copy(room, LINES_AT + held, from)
      room[end] = NEWLINE
      at = LINES_AT
      fill(batch)
      return batch
    },
    more() {
      if (at >= end) return undefined
      const batch: Batch = { records: [], damage: [] }
      fill(batch)
      return batch
    },
    end() {
      const batch: Batch = { records: [], damage: [] }
      const { length } = open
      if (length > 0) take(open.end(Buffer.alloc(0)), length, false, batch)
      else if (held > 0) take(room.subarray(heldAt, heldAt + held), held, false, batch)
      // The last of these is held until there is another: in each thread, its 32 MB would be.
      open.letGo()
      return batch
    },
  }
}
