/**
 * Texts in the order of their code units, as many as there may be: beyond some thousand they wait in sorted runs, in a file without a
 * name, and are read from all runs side by side. Where no file can be made, or written, they are held.
 */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { openNameless, readNameless, writeNameless } from './nameless.ts'

export type SortedTexts = {
  add(text: string): void
  /** Once, when all are added. What is on disk is let go of at the end, or when it is left; a list where nothing is. */
  inOrder(): Iterable<string>
  /** Instead of it. */
  close(): void
}

/** Held before they become a run: so many texts, or characters of them. */
const MOST_HELD = 16_384
const MOST_CHARACTERS = 2 * 1024 * 1024
/** Read of a run at a time, in bytes; more where one text is longer. */
const BLOCK_BYTES = 16 * 1024
/** What says how long a text is, before each. */
const HEADER_BYTES = 4

export function createSortedTexts(mostHeld: number = MOST_HELD): SortedTexts {
  let held: string[] = []
  let characters = 0
  let file: number | undefined
  let end = 0
  const runs: Run[] = []
  const close = (): void => {
    if (file !== undefined) fs.closeSync(file)
    file = undefined
    runs.length = 0
    held = []
  }
  const putAway = (): void => {
    held.sort(byUnits)
    const bytes = encode(held)
    try {
      file ??= openNameless(tmpdir())
      if (file === undefined) throw new Error('no file')
      writeNameless(file, bytes, end)
      runs.push(runIn(file, end, end + bytes.length))
      end += bytes.length
    } catch {
      runs.push(runOf(held))
    }
    held = []
    characters = 0
  }
  return {
    add(text) {
      held.push(text)
      characters += text.length
      if (held.length >= mostHeld || characters >= MOST_CHARACTERS) putAway()
    },
    inOrder() {
      held.sort(byUnits)
      return runs.length === 0 ? held : merged([...runs, runOf(held)], close)
    },
    close,
  }
}

const byUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The next of its texts; undefined when there are no more. */
type Run = () => string | undefined

function runOf(texts: readonly string[]): Run {
  let at = 0
  return () => {
    at += 1
    return texts[at - 1]
  }
}

/** As units of two bytes: names of files may hold halves of characters, which UTF-8 has none for. */
function encode(texts: readonly string[]): Buffer {
  const length = texts.reduce((sum, text) => sum + HEADER_BYTES + 2 * text.length, 0)
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (const text of texts) {
    bytes.writeUInt32LE(2 * text.length, at)
    bytes.write(text, at + HEADER_BYTES, 'utf16le')
    at += HEADER_BYTES + 2 * text.length
  }
  return bytes
}

function runIn(file: number, from: number, to: number): Run {
  let block = Buffer.alloc(0)
  let at = 0
  let next = from
  /** So many bytes, from what is read and not given yet. */
  const have = (length: number): void => {
    if (block.length - at >= length) return
    const left = block.subarray(at)
    const more = Math.min(Math.max(BLOCK_BYTES, length - left.length), to - next)
    const bytes = Buffer.allocUnsafe(left.length + more)
    left.copy(bytes)
    readNameless(file, bytes.subarray(left.length), next)
    next += more
    block = bytes
    at = 0
  }
  return () => {
    if (at === block.length && next === to) return undefined
    have(HEADER_BYTES)
    const length = block.readUInt32LE(at)
    have(HEADER_BYTES + length)
    const text = block.toString('utf16le', at + HEADER_BYTES, at + HEADER_BYTES + length)
    at += HEADER_BYTES + length
    return text
  }
}

type Head = { text: string; readonly run: Run }

function* merged(runs: readonly Run[], close: () => void): Generator<string, void, undefined> {
  try {
    yield* inTurn(runs)
  } finally {
    close()
  }
}

/** By a heap of the first of each run. */
function* inTurn(runs: readonly Run[]): Generator<string, void, undefined> {
  const heap: Head[] = []
  for (const run of runs) {
    const text = run()
    if (text !== undefined) heap.push({ text, run })
  }
  heap.sort((a, b) => byUnits(a.text, b.text))
  for (let first = heap[0]; first !== undefined; first = heap[0]) {
    yield first.text
    const text = first.run()
    if (text !== undefined) first.text = text
    else {
      const last = heap.pop() as Head
      if (heap.length > 0) heap[0] = last
    }
    sink(heap)
  }
}

/** Puts the first where it belongs. */
function sink(heap: Head[]): void {
  const [moved] = heap
  if (moved === undefined) return
  let at = 0
  for (;;) {
    const left = heap[2 * at + 1]
    const right = heap[2 * at + 2]
    const isRight = right !== undefined && left !== undefined && right.text < left.text
    const less = isRight ? right : left
    if (less === undefined || less.text >= moved.text) break
    heap[at] = less
    at = 2 * at + (isRight ? 2 : 1)
  }
  heap[at] = moved
}
