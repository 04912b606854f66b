/** In which pass each call was met first, by the hash of its key: 24 bytes a call, for a million of them at most. */

export type KeyHolders = {
  /** Notes that a pass has it. Gives the pass that had it before, if any; it may have been the same one. */
  note(hash: number, reading: number): number | undefined
  count(): number
}

const FIRST_SLOTS = 1024

export function createKeyHolders(): KeyHolders {
  // 0 is no hash: an empty slot.
  let hashes = new Float64Array(FIRST_SLOTS)
  let readings = new Float64Array(FIRST_SLOTS)
  let size = 0

  const find = (hash: number): number => {
    const mask = hashes.length - 1
    let at = (hash >>> 0) & mask
    for (let found = hashes[at]; found !== 0 && found !== hash; found = hashes[at]) at = (at + 1) & mask
    return at
  }
  const grow = (): void => {
    const [hashesBefore, readingsBefore] = [hashes, readings]
    hashes = new Float64Array(hashesBefore.length * 2)
    readings = new Float64Array(hashes.length)
    for (let at = 0; at < hashesBefore.length; at += 1) {
      const hash = hashesBefore[at] as number
      if (hash === 0) continue
      const to = find(hash)
      hashes[to] = hash
      readings[to] = readingsBefore[at] as number
    }
  }

  return {
    note(hash, reading) {
      const at = find(hash)
      if (hashes[at] === hash) return readings[at]
      hashes[at] = hash
      readings[at] = reading
      size += 1
      if (size * 4 > hashes.length * 3) grow()
      return undefined
    },
    count: () => size,
  }
}
