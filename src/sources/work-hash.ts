/**
 * Whether two calls are the same: 53 bits of what a tool is called and was given. Only calls near each other, or reads of one file,
 * are compared; texts of more than a thousand characters are not looked at in full, which would take as long as parsing them.
 */
import type { ToolCallBlock } from '../transcript/block.ts'
import type { Json } from '../transcript/json.ts'

let low = 0
let high = 0

export function callHash({ name, input, inputBlob, apart }: ToolCallBlock): number {
  low = 0x811c_9dc5
  high = 0x2545_f491
  addText(name)
  if (input !== undefined) addValue(input)
  if (inputBlob !== undefined) addText(inputBlob.blob)
  // What is kept elsewhere is told by the hash of it.
  if (apart !== undefined) for (const { blob } of Object.values(apart)) addText(blob)
  return (low >>> 0) * 0x20_0000 + ((high >>> 0) & 0x1f_ffff)
}

/** By a stack of our own: hostile values are deeper than the machine's. */
function addValue(value: Json): void {
  if (typeof value === 'string') return addText(value)
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
const LONG = 1024
const END = 128
const STEP = 16

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
