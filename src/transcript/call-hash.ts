/**
 * Whether two calls are the same: 53 bits of what a tool is called and was given. Only calls near each other, or reads of one file,
 * are compared; texts of more than a thousand characters are not looked at in full, which would take as long as parsing them.
 */
import type { ToolCallBlock } from './block.ts'
import type { Json } from './json.ts'
import { spelledPieces } from './long-spelling.ts'

let low = 0
let high = 0

/** What is mixed into a hash, one after the other: a text, or a number that stands for what is around texts. */
export type HashStep = string | number

/** A hash on its way. */
export type Mixed = { readonly low: number; readonly high: number }

export function callHash({ name, input, inputBlob, apart }: ToolCallBlock): number {
  begin()
  addText(name)
  if (input !== undefined) addValue(input)
  if (inputBlob !== undefined) addText(inputBlob.blob)
  // What is kept elsewhere is told by the hash of it.
  if (apart !== undefined) for (const { blob } of Object.values(apart)) addText(blob)
  return toHash({ low, high })
}

/** What `callHash` mixes in for an input, in its order: for those who have its texts by other means. */
export function hashSteps(input: Json): readonly HashStep[] {
  const steps: HashStep[] = []
  walk(
    input,
    (text) => void steps.push(text),
    (sign) => void steps.push(sign),
  )
  return steps
}

/** Mixed with what comes before an input, and the first steps of it. */
export function mixedFirst(name: string, steps: readonly HashStep[]): Mixed {
  begin()
  addText(name)
  for (const step of steps) addStep(step)
  return { low, high }
}

/** The same with more steps. */
export function mixedWith(mixed: Mixed, step: HashStep): Mixed {
  low = mixed.low
  high = mixed.high
  addStep(step)
  return { low, high }
}

/** The same with a text of more than `LONG` bytes, spelled piece by piece. */
export function mixedPieces(mixed: Mixed, pieces: () => Iterable<Buffer>): Mixed {
  low = mixed.low
  high = mixed.high
  addPieces(pieces)
  return { low, high }
}

export function toHash(mixed: Mixed): number {
  return (mixed.low >>> 0) * 0x20_0000 + ((mixed.high >>> 0) & 0x1f_ffff)
}

function begin(): void {
  low = 0x811c_9dc5
  high = 0x2545_f491
}

function addStep(step: HashStep): void {
  if (typeof step === 'string') addText(step)
  else addSign(step)
}

function addValue(value: Json): void {
  if (typeof value === 'string') addText(value)
  else walk(value, addText, addSign)
}

/** By a stack of our own: hostile values are deeper than the machine's. */
function walk(value: Json, addText: (text: string) => void, addSign: (sign: number) => void): void {
  const stack: Json[] = [value]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') addText(next)
    else if (Array.isArray(next)) {
      addSign(next.length + 1)
      for (let at = next.length - 1; at >= 0; at -= 1) stack.push((next as readonly Json[])[at] ?? null)
    } else if (typeof next === 'object' && next !== null) {
      addSign(-1)
      for (const key of Object.keys(next)) {
        stack.push((next as { readonly [key: string]: Json })[key] ?? null)
        addText(key)
      }
    } else addText(String(next))
  }
}

/** Longer texts, which are mostly files written whole, by their length, their ends and four bytes of each sixteen. */
export const LONG = 1024
export const END = 128
export const STEP = 16

/** A text is mixed in as JSON spells it, in UTF-8: so it need not be made where it stands in a line that is spelled so. */
function addText(text: string): void {
  if (text.length > HELD) addPieces(() => spelledPieces(text))
  else if (text.length > LONG || !addPlain(text)) addBytes(Buffer.from(JSON.stringify(text)))
}

/** UTF-16 units of a text that is spelled at once. */
const HELD = 1024 * 1024

/** Of a text that is spelled as it is, as most short ones are; false, with nothing mixed in, for any other. */
function addPlain(text: string): boolean {
  const { length } = text
  let [a, b] = [low, high]
  let at = 0
  for (; length - at >= 4; at += 4) {
    const [first, second] = [text.charCodeAt(at), text.charCodeAt(at + 1)]
    const [third, fourth] = [text.charCodeAt(at + 2), text.charCodeAt(at + 3)]
    if (!(isPlain(first) && isPlain(second) && isPlain(third) && isPlain(fourth))) return false
    const word = first | (second << 8) | (third << 16) | (fourth << 24)
    a = Math.imul(a ^ word, FIRST)
    a ^= a >>> 15
    b = Math.imul(b + word, SECOND)
    b ^= b >>> 13
  }
  for (; at < length; at += 1) {
    const code = text.charCodeAt(at)
    if (!isPlain(code)) return false
    a = Math.imul(a ^ code, FIRST)
    a ^= a >>> 15
    b = Math.imul(b + code, SECOND)
    b ^= b >>> 13
  }
  low = a
  high = b
  addSign(length)
  return true
}

const isPlain = (code: number): boolean => code >= 0x20 && code < 0x80 && code !== 0x22 && code !== 0x5c

export const [FIRST, SECOND] = [0x85eb_ca6b, 0xc2b2_ae35] as const

/** Between its quotes. */
function addBytes(spelled: Buffer): void {
  const [from, to] = [1, spelled.length - 1]
  if (to - from <= LONG) addPart(spelled, from, to, 4)
  else {
    addPart(spelled, from, from + END, 4)
    addPart(spelled, from + END, to - END, STEP)
    addPart(spelled, to - END, to, 4)
  }
  addSign(to - from)
}

/** Four bytes every so many, and what is left at the end one by one. */
function addPart(bytes: Buffer, from: number, to: number, step: number): void {
  let [a, b] = [low, high]
  let at = from
  for (; to - at >= 4; at += step) {
    const word = bytes.readInt32LE(at)
    a = Math.imul(a ^ word, FIRST)
    a ^= a >>> 15
    b = Math.imul(b + word, SECOND)
    b ^= b >>> 13
  }
  for (; at < to; at += 1) {
    const byte = bytes[at] as number
    a = Math.imul(a ^ byte, FIRST)
    a ^= a >>> 15
    b = Math.imul(b + byte, SECOND)
    b ^= b >>> 13
  }
  low = a
  high = b
}

/** The same as `addBytes` of what the pieces are together, which is long; they are asked for twice, for their length is needed first. */
function addPieces(pieces: () => Iterable<Buffer>): void {
  let length = 0
  for (const piece of pieces()) length += piece.length
  const parts = [
    { to: END, step: 4 },
    { to: length - END, step: STEP },
    { to: length, step: 4 },
  ]
  let part = parts.shift()
  /** Among all bytes: what is mixed in next. */
  let at = 0
  let rest: Buffer = Buffer.alloc(0)
  let base = 0
  for (const piece of pieces()) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    const end = base + bytes.length
    while (part !== undefined) {
      const { to, step } = part
      if (at >= to) {
        at = to
        part = parts.shift()
        continue
      }
      const size = to - at >= 4 ? 4 : 1
      if (at + size > end) break
      addPart(bytes, at - base, at - base + size, size)
      at += size === 4 ? step : 1
    }
    rest = Buffer.from(bytes.subarray(Math.min(at, end) - base))
    base = Math.min(at, end)
  }
  addSign(length)
}

function addSign(sign: number): void {
  low = Math.imul(low ^ sign, 0x0100_0193)
  high = Math.imul(high ^ sign, 0x5bd1_e995)
}
