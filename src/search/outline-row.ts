/** A row of an outline: all that is known of an entry without reading it, in 128 bytes, so that any row is found by its number. */
import { qualityOfCalls, UNSURE, type Unsure } from '../replay/call-bytes.ts'
import { COUNTS, type Count, type Usage } from '../transcript/usage.ts'

export const ROW_BYTES = 128

export type OutlineRow = {
  /** Numbers of the outline's lists; `file` is zero where the entry names none, else one more than its place there. */
  readonly unit: number
  readonly file: number
  readonly source: number
  readonly version: number | undefined
  readonly byteOffset: number
  readonly byteLength: number
  /** As `origin.record` of the entry. */
  readonly record: number
  readonly sequence: number
  /** See transcript/kinds.ts. */
  readonly kind: number
  /** Milliseconds since 1970; NaN where the entry does not say. */
  readonly at: number
  /** Of the entry as JSON: what is read from its record alone is the entry when they are the same. */
  readonly checksum: number
  readonly length: number
  /** US dollars × 10⁻¹² of all entries up to this one. */
  readonly pico: bigint
  /** Tokens of all entries up to this one, in the order of `COUNTS`; undefined for what nobody stated so far. */
  readonly counts: readonly (number | undefined)[]
  /** Calls up to this one that are not the provider's last word: see replay/call-bytes.ts. */
  readonly calls: Unsure
  /** What it says of its call, in a byte: see there. */
  readonly call: number
  readonly marks: number
  /** Tokens that the call was asked with, which is how full the context was; zero where nobody said. */
  readonly prompt: number
  /** Where a copy lies, for what cannot be read from its record alone. */
  readonly copy: CopyPlace | undefined
}

export type CopyPlace = { readonly offset: number; readonly length: number; readonly index: number }

/** Bits of `marks`. */
export const MARKS = {
  /** It says what a call used. */
  report: 1,
  /** Nobody knows a price for that. */
  unpriced: 2,
  /** Another session pays for it. */
  elsewhere: 4,
  /** Nobody knows a price for a call up to this one. */
  unpricedSoFar: 8,
} as const

const AT = {
  at: 0,
  pico: 8,
  counts: 16,
  calls: 52,
  byteOffset: 68,
  copyOffset: 74,
  byteLength: 80,
  file: 84,
  version: 88,
  record: 92,
  source: 96,
  sequence: 100,
  checksum: 104,
  length: 108,
  copyLength: 112,
  copyIndex: 116,
  kind: 118,
  unit: 120,
  marks: 122,
  call: 123,
  prompt: 124,
} as const

const MOST = 0xffff_ffff
/** Of places in files, and of tokens: six bytes are enough for either. */
const LONG = 6
const MOST_LONG = 2 ** (LONG * 8) - 1

/** What no row has room for is cut to the largest number there is: the entry's check then fails, and it is read among others. */
const u32 = (value: number): number => Math.min(MOST, Math.max(0, Math.trunc(value)))
const u48 = (value: number): number => Math.min(MOST_LONG, Math.max(0, Math.trunc(value)))

export function writeRow(into: Buffer, at: number, row: OutlineRow): void {
  into.writeDoubleLE(row.at, at + AT.at)
  into.writeBigInt64LE(BigInt.asIntN(64, row.pico), at + AT.pico)
  for (let i = 0; i < COUNTS.length; i += 1) {
    const count = row.counts[i]
    // One more than it is: zero is what is not known.
    into.writeUIntLE(count === undefined ? 0 : u48(count + 1), at + AT.counts + i * LONG, LONG)
  }
  for (let i = 0; i < UNSURE.length; i += 1) into.writeUInt32LE(u32(row.calls[i] ?? 0), at + AT.calls + i * 4)
  into.writeUIntLE(u48(row.byteOffset), at + AT.byteOffset, LONG)
  into.writeUInt32LE(u32(row.byteLength), at + AT.byteLength)
  into.writeUInt32LE(u32(row.file), at + AT.file)
  into.writeUInt32LE(row.version === undefined ? 0 : u32(row.version + 1), at + AT.version)
  into.writeUInt32LE(u32(row.record), at + AT.record)
  into.writeUInt32LE(u32(row.source), at + AT.source)
  into.writeUInt32LE(u32(row.sequence), at + AT.sequence)
  into.writeUInt32LE(row.checksum >>> 0, at + AT.checksum)
  into.writeUInt32LE(u32(row.length), at + AT.length)
  into.writeUInt16LE(row.kind & 0xffff, at + AT.kind)
  into.writeUInt16LE(Math.min(0xffff, row.unit), at + AT.unit)
  into.writeUInt8(row.marks, at + AT.marks)
  into.writeUInt8(row.call, at + AT.call)
  into.writeUInt32LE(u32(row.prompt), at + AT.prompt)
  writeCopy(into, at, row.copy)
}

/** Known later than the rest: copies are written many at a time. */
export function writeCopy(into: Buffer, at: number, copy: CopyPlace | undefined): void {
  into.writeUIntLE(u48(copy?.offset ?? 0), at + AT.copyOffset, LONG)
  into.writeUInt32LE(copy?.length ?? 0, at + AT.copyLength)
  into.writeUInt16LE(copy?.index ?? 0, at + AT.copyIndex)
}

export function readRow(from: Buffer, at: number): OutlineRow {
  const version = from.readUInt32LE(at + AT.version)
  const length = from.readUInt32LE(at + AT.copyLength)
  return {
    byteOffset: from.readUIntLE(at + AT.byteOffset, LONG),
    at: from.readDoubleLE(at + AT.at),
    pico: from.readBigInt64LE(at + AT.pico),
    counts: COUNTS.map((_, i) => {
      const count = from.readUIntLE(at + AT.counts + i * LONG, LONG)
      return count === 0 ? undefined : count - 1
    }),
    calls: UNSURE.map((_, i) => from.readUInt32LE(at + AT.calls + i * 4)),
    byteLength: from.readUInt32LE(at + AT.byteLength),
    file: from.readUInt32LE(at + AT.file),
    version: version === 0 ? undefined : version - 1,
    record: from.readUInt32LE(at + AT.record),
    source: from.readUInt32LE(at + AT.source),
    sequence: from.readUInt32LE(at + AT.sequence),
    checksum: from.readUInt32LE(at + AT.checksum),
    length: from.readUInt32LE(at + AT.length),
    kind: from.readUInt16LE(at + AT.kind),
    unit: from.readUInt16LE(at + AT.unit),
    marks: from.readUInt8(at + AT.marks),
    call: from.readUInt8(at + AT.call),
    prompt: from.readUInt32LE(at + AT.prompt),
    copy:
      length === 0
        ? undefined
        : {
            offset: from.readUIntLE(at + AT.copyOffset, LONG),
            length,
            index: from.readUInt16LE(at + AT.copyIndex),
          },
  }
}

/** The same entry, whatever was copied of it. */
export function isSameRow(a: Buffer, b: Buffer): boolean {
  return (
    a.compare(b, AT.copyOffset + LONG, AT.copyLength, AT.copyOffset + LONG, AT.copyLength) === 0 &&
    a.compare(b, 0, AT.copyOffset, 0, AT.copyOffset) === 0 &&
    a.compare(b, AT.kind, ROW_BYTES, AT.kind, ROW_BYTES) === 0
  )
}

export const kindAt = (from: Buffer, at: number): number => from.readUInt16LE(at + AT.kind)
export const timeAt = (from: Buffer, at: number): number => from.readDoubleLE(at + AT.at)
export const sourceAt = (from: Buffer, at: number): number => from.readUInt32LE(at + AT.source)
export const sequenceAt = (from: Buffer, at: number): number => from.readUInt32LE(at + AT.sequence)
export const picoAt = (from: Buffer, at: number): bigint => from.readBigInt64LE(at + AT.pico)
export const marksAt = (from: Buffer, at: number): number => from.readUInt8(at + AT.marks)
export const callAt = (from: Buffer, at: number): number => from.readUInt8(at + AT.call)
/** Bytes of the entry as JSON. */
export const lengthAt = (from: Buffer, at: number): number => from.readUInt32LE(at + AT.length)
export const promptAt = (from: Buffer, at: number): number => from.readUInt32LE(at + AT.prompt)

/** All that was used up to a row; undefined while nobody stated anything. */
export function usageOf({ counts, calls }: Pick<OutlineRow, 'counts' | 'calls'>): Usage | undefined {
  const known = COUNTS.flatMap((name, i): [Count, number][] => {
    const value = counts[i]
    return value === undefined ? [] : [[name, value]]
  })
  return known.length === 0 ? undefined : { ...Object.fromEntries(known), quality: qualityOfCalls(calls) }
}
