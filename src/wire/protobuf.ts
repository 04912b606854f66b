/**
 * Protobuf as far as OTLP needs it, both ways: bytes become the JSON that protobuf has for the same message, by a schema. What comes
 * in is hostile: lengths, depth and the number of parts are bounded, fields that the schema does not have are passed over, and
 * nothing throws.
 */
import type { Json, JsonObject } from '../transcript/json.ts'

/** How a field is written, and what it is in JSON: `hex` for ids, `base64` for other bytes, `nanos` for times as text. */
export type FieldKind = 'string' | 'hex' | 'base64' | 'bool' | 'int' | 'enum' | 'double' | 'nanos' | 'fixed32'

export type Field = {
  readonly name: string
  readonly kind: FieldKind | (() => Schema)
  readonly isList?: boolean
}

/** By the fields' numbers. */
export type Schema = ReadonlyMap<number, Field>

/** Messages inside messages: values may be lists of lists. */
const DEEPEST = 100
/** Messages in all: two bytes say an empty one, which takes fifty in memory. */
const MOST_PARTS = 1_000_000

/** Undefined for what is no such message, or too much of one. */
export function decodeProtobuf(bytes: Uint8Array, schema: Schema): JsonObject | undefined {
  try {
    return new Decoding(bytes).message(schema, 0, bytes.length, DEEPEST)
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
}

/** For what is our own, in the shapes of the schema: fields that are absent are not written. */
export function encodeProtobuf(message: JsonObject, schema: Schema): Buffer {
  const parts: Buffer[] = []
  for (const [number, field] of schema) {
    const value = message[field.name]
    if (value === undefined || value === null) continue
    for (const one of field.isList && Array.isArray(value) ? value : [value])
      parts.push(encodeField(number, field, one))
  }
  return Buffer.concat(parts)
}

class Malformed extends Error {}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

class Decoding {
  private at = 0
  private parts = 0
  private readonly bytes: Buffer

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  message(schema: Schema, from: number, to: number, depth: number): JsonObject {
    this.parts += 1
    if (depth === 0 || this.parts > MOST_PARTS) throw new Malformed()
    this.at = from
    const message = Object.create(null) as Record<string, Json>
    while (this.at < to) {
      const tag = this.varint(to)
      const field = schema.get(Number(tag >> 3n))
      const wire = Number(tag & 7n)
      const value = this.value(wire, field, to, depth)
      if (field === undefined || value === undefined) continue
      const list = message[field.name]
      if (field.isList !== true) message[field.name] = value
      else if (Array.isArray(list)) list.push(value)
      else message[field.name] = [value]
    }
    if (this.at !== to) throw new Malformed()
    return message
  }

  /** Undefined for a field that is passed over: unknown, or written in a way that is not its own. */
  private value(wire: number, field: Field | undefined, to: number, depth: number): Json | undefined {
    switch (wire) {
      case 0:
        return fromVarint(this.varint(to), field?.kind)
      case 1: {
        const at = this.skip(8, to)
        if (field?.kind === 'double') return fromDouble(this.bytes.readDoubleLE(at))
        return field?.kind === 'nanos' ? this.bytes.readBigUInt64LE(at).toString() : undefined
      }
      case 2: {
        const length = this.varint(to)
        if (length > BigInt(to - this.at)) throw new Malformed()
        const from = this.skip(Number(length), to)
        return this.content(field?.kind, from, this.at, depth)
      }
      case 5: {
        const at = this.skip(4, to)
        return field?.kind === 'fixed32' ? this.bytes.readUInt32LE(at) : undefined
      }
      default:
        // Groups were given up before OTLP began.
        throw new Malformed()
    }
  }

  private content(
    kind: Field['kind'] | undefined,
    from: number,
    to: number,
    depth: number,
  ): Json | undefined {
    if (typeof kind === 'function') {
      const message = this.message(kind(), from, to, depth - 1)
      this.at = to
      return message
    }
    const bytes = this.bytes.subarray(from, to)
    if (kind === 'string') return utf8.decode(bytes)
    return kind === 'hex' || kind === 'base64' ? bytes.toString(kind) : undefined
  }

  private varint(to: number): bigint {
    let value = 0
    // Nearly all are short: numbers are faster than big ones.
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte(to)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return BigInt(value)
    }
    let rest = BigInt(value)
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.byte(to)
      rest += BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return rest & 0xffff_ffff_ffff_ffffn
    }
    throw new Malformed()
  }

  private byte(to: number): number {
    if (this.at >= to) throw new Malformed()
    const byte = this.bytes[this.at] ?? 0
    this.at += 1
    return byte
  }

  private skip(length: number, to: number): number {
    const from = this.at
    if (length > to - from) throw new Malformed()
    this.at = from + length
    return from
  }
}

/** Whole numbers that a number cannot hold stay text, as in protobuf's JSON. */
function fromVarint(value: bigint, kind: Field['kind'] | undefined): Json | undefined {
  if (kind === 'bool') return value !== 0n
  if (kind !== 'int' && kind !== 'enum') return undefined
  const signed = BigInt.asIntN(64, value)
  const number = Number(signed)
  return Number.isSafeInteger(number) ? number : signed.toString()
}

function fromDouble(value: number): Json {
  return Number.isFinite(value) ? value : String(value)
}

function encodeField(number: number, { kind }: Field, value: Json): Buffer {
  const tagged = (wire: number, ...content: readonly Buffer[]): Buffer =>
    Buffer.concat([varintOf(BigInt(number * 8 + wire)), ...content])
  const framed = (content: Buffer): Buffer => tagged(2, varintOf(BigInt(content.length)), content)
  if (typeof kind === 'function') return framed(encodeProtobuf(value as JsonObject, kind()))
  switch (kind) {
    case 'string':
      return framed(Buffer.from(value as string))
    case 'hex':
    case 'base64':
      return framed(Buffer.from(value as string, kind))
    case 'bool':
      return tagged(0, varintOf(value === true ? 1n : 0n))
    case 'int':
    case 'enum':
      return tagged(0, varintOf(BigInt.asUintN(64, BigInt(value as number | string))))
    case 'double': {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleLE(Number(value))
      return tagged(1, bytes)
    }
    case 'nanos': {
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64LE(BigInt(value as number | string))
      return tagged(1, bytes)
    }
    case 'fixed32': {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32LE(Number(value))
      return tagged(5, bytes)
    }
  }
}

function varintOf(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}
