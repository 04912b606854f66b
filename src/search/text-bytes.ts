/**
 * The texts of an entry as bytes of UTF-8, made once for all who go over them: the hash that tells whether they changed, the words,
 * and the bytes that stand together. Half characters become U+FFFD. Good until the next texts are encoded.
 */

export type TextBytes = {
  readonly bytes: Buffer
  /** Of each text: where it begins, a multiple of four, and where it ends. At least two zeros follow. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** Each: every byte is a character. */
  readonly isAscii: readonly boolean[]
}

/** Entries beyond this are rare, and no reason to hold on to so much memory. */
const KEEP_BYTES = 1 << 20
let shared = Buffer.alloc(4096)
let words = new Int32Array(shared.buffer)

export function encodeTexts(texts: readonly string[]): TextBytes {
  let room = 0
  for (const text of texts) room += text.length * 3 + 8
  if (shared.length < room || shared.length > KEEP_BYTES) {
    const size = Math.max(room, Math.min(room * 2, KEEP_BYTES), 4096)
    // Of its own memory, so that it can be looked at four bytes at a time.
    shared = Buffer.allocUnsafeSlow((size + 3) & ~3)
    words = new Int32Array(shared.buffer)
  }
  const starts: number[] = []
  const ends: number[] = []
  const isAscii: boolean[] = []
  let at = 0
  for (const text of texts) {
    starts.push(at)
    const end = at + shared.write(text, at, 'utf8')
    ends.push(end)
    isAscii.push(end - at === text.length)
    at = (end + 5) & ~3
    for (let zero = end; zero < at; zero += 1) shared[zero] = 0
  }
  return { bytes: shared, starts, ends, isAscii }
}

/** Another number, nearly always, when a byte of a text differs, or where one ends. MurmurHash3. Of the texts encoded last. */
export function hashTexts({ starts, ends }: TextBytes, seed: number): number {
  let hash = seed ^ starts.length
  for (let nth = 0; nth < starts.length; nth += 1) {
    const end = ends[nth] as number
    const last = (end + 3) >> 2
    for (let at = (starts[nth] as number) >> 2; at < last; at += 1) hash = mixed(hash, words[at] as number)
    hash = mixed(hash, end)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function mixed(hash: number, word: number): number {
  const first = Math.imul(word, 0xcc9e_2d51)
  const value = hash ^ Math.imul((first << 15) | (first >>> 17), 0x1b87_3593)
  return (Math.imul((value << 13) | (value >>> 19), 5) + 0xe654_6b64) | 0
}
