/**
 * Whether a word has one of some texts within, for words that come in order, each of which begins as the one before: only what is new of
 * it is looked at. Pure.
 */

/** `word` up to `length`, of which the first `kept` bytes are those of the last one that was asked. */
export type TextFinder = (word: Uint8Array, kept: number, length: number) => boolean

/** Letters and digits, and all else. */
const KINDS = 37

/** Of letters and digits in lower case. */
export function createTextFinder(texts: readonly string[]): TextFinder {
  const next = toAutomaton(texts)
  /** After each byte of the last word. */
  let states = new Int32Array(256)
  return (word, kept, length) => {
    if (length >= states.length) {
      const longer = new Int32Array(length * 2)
      longer.set(states)
      states = longer
    }
    let state = states[kept] as number
    for (let at = kept; at < length; at += 1) {
      state = next[state + (KIND_OF[word[at] as number] as number)] as number
      states[at + 1] = state
    }
    return state === FOUND
  }
}

const KIND_OF: Uint8Array = new Uint8Array(256).map((_, byte) => {
  if (byte >= 0x61 && byte <= 0x7a) return byte - 0x60
  return byte >= 0x30 && byte <= 0x39 ? byte - 0x30 + 27 : 0
})

/** States are where their row begins. The second is not left any more. */
const FOUND = KINDS

/** For each state and each kind of byte the state that follows: after Aho and Corasick. */
function toAutomaton(texts: readonly string[]): Int32Array {
  const most = texts.reduce((sum, { length }) => sum + length, 2)
  const next = new Int32Array(most * KINDS)
  let size = 2 * KINDS
  next.fill(FOUND, FOUND, FOUND + KINDS)
  for (const text of texts) {
    let state = 0
    for (let at = 0; at < text.length && state !== FOUND; at += 1) {
      const to = state + (KIND_OF[text.charCodeAt(at)] as number)
      if (at === text.length - 1) next[to] = FOUND
      else if (next[to] === 0) {
        next[to] = size
        size += KINDS
      }
      state = next[to] as number
    }
  }
  // From the shortest on: what a state lacks is what the longest end of it has, which is a state too.
  const fallback = new Int32Array(most)
  const queue = [0]
  for (const state of queue) {
    for (let kind = 0; kind < KINDS; kind += 1) {
      const to = next[state + kind] as number
      const back = state === 0 ? 0 : (next[(fallback[state / KINDS] as number) + kind] as number)
      if (to === 0) next[state + kind] = back
      else if (to !== FOUND) {
        if (back === FOUND) next[state + kind] = FOUND
        else {
          fallback[to / KINDS] = back
          queue.push(to)
        }
      }
    }
  }
  return next
}
