/**
 * Whether two calls are the same: 53 bits of what a tool is called and was given. Only calls near each other, or reads of one file,
 * are compared; texts of more than a thousand characters are not looked at in full, which would take as long as parsing them.
 */
import type { ToolCallBlock } from './block.ts'
import type { Json } from './json.ts'

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

/** Longer texts, which are mostly files written whole, by their length, their ends and one character in sixteen. */
export const LONG = 1024
export const END = 128
export const STEP = 16

function addText(text: string): void {
  const { length } = text
  if (length <= LONG) addPart(text, 0, length, 1)
  else {
    addPart(text, 0, END, 1)
    addPart(text, END, length - END, STEP)
    addPart(text, length - END, length, 1)
  }
  addSign(length)
}

function addPart(text: string, from: number, to: number, step: number): void {
  let a = low
  let b = high
  for (let at = from; at < to; at += step) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x85eb_ca6b)
    b = Math.imul(b + code, 0xc2b2_ae35)
    b ^= b >>> 13
  }
  low = a
  high = b
}

function addSign(sign: number): void {
  low = Math.imul(low ^ sign, 0x0100_0193)
  high = Math.imul(high ^ sign, 0x5bd1_e995)
}
