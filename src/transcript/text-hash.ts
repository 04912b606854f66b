/** Texts in few bits, by two rounds of multiply and shift: for telling apart, not for keeping secret. */

/** In 53 bits, whole in a double; never 0. */
export function hashText(text: string): number {
  mix(text)
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0) || 1
}

/** In 64, as two words. */
export function hashWords(text: string): readonly [high: number, low: number] {
  mix(text)
  return [high >>> 0, low >>> 0]
}

/** Of the text that was mixed last: to give both back from a function would make an object for each id of each file. */
let high = 0
let low = 0

function mix(text: string): void {
  let first = 0xdeadbeef
  let second = 0x41c6ce57
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    first = Math.imul(first ^ unit, 2654435761)
    second = Math.imul(second ^ unit, 1597334677)
  }
  high = Math.imul(first ^ (first >>> 16), 2246822507) ^ Math.imul(second ^ (second >>> 13), 3266489909)
  low = Math.imul(second ^ (second >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
}
