/**
 * Texts put aside as bytes, to be read again when somebody asks for one: a long session has millions of words, of which a comparison shows
 * some. A text that is held already is held once.
 */
export type HeldTexts = {
  /** Where it is to be found; undefined where all together are too much. `key`: what the same text is known by. */
  put(text: string, key: string): number | undefined
  get(place: number): string
}

/** Of a block of bytes. */
const BLOCK = 1024 * 1024

/** `budget`: UTF-16 units of all, `longest` of one, of which the beginning is kept. */
export function createHeldTexts(budget: number, longest: number): HeldTexts {
  const blocks: Buffer[] = []
  let used = BLOCK
  let held = 0
  /** By turns: which block, where in it, how many bytes; negative for those of two bytes a unit. */
  const places: number[] = []
  const known = new Map<string, number>()
  return {
    put(text, key) {
      const before = known.get(key)
      if (before !== undefined) return before
      if (held >= budget) return undefined
      const part = text.slice(0, longest)
      held += part.length
      const isWide = /[\u0100-\uffff]/.test(part)
      const size = part.length * (isWide ? 2 : 1)
      if (used + size > (blocks.at(-1)?.length ?? 0)) {
        blocks.push(Buffer.allocUnsafeSlow(Math.max(BLOCK, size)))
        used = 0
      }
      const block = blocks.at(-1) as Buffer
      block.write(part, used, size, isWide ? 'utf16le' : 'latin1')
      const place = places.length / 3
      places.push(blocks.length - 1, used, isWide ? -size : size)
      used += size
      if (size > WORTH_KNOWING) known.set(key, place)
      return place
    },
    get(place) {
      const [block, from, size] = places.slice(place * 3, place * 3 + 3) as [number, number, number]
      const to = from + Math.abs(size)
      return (blocks[block] as Buffer).toString(size < 0 ? 'utf16le' : 'latin1', from, to)
    },
  }
}

/** Bytes below which to know a text takes more than to hold it again. */
const WORTH_KNOWING = 256
