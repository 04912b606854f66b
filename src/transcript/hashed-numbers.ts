/** A number for each of any number of hashes, as `hashText` has them, in 21 to 43 bytes each. 0 is no hash. */
export type HashedNumbers = {
  get(hash: number): number | undefined
  set(hash: number, number: number): void
  /** Sets it where there is none. Gives what was there before. */
  note(hash: number, number: number): number | undefined
  size(): number
}

const FIRST_SLOTS = 1024

export function createHashedNumbers(): HashedNumbers {
  // An empty slot is 0.
  let hashes = new Float64Array(FIRST_SLOTS)
  let numbers = new Float64Array(FIRST_SLOTS)
  let size = 0

  const find = (hash: number): number => {
    const mask = hashes.length - 1
    let at = (hash >>> 0) & mask
    for (let found = hashes[at]; found !== 0 && found !== hash; found = hashes[at]) at = (at + 1) & mask
    return at
  }
  const grow = (): void => {
    const [hashesBefore, numbersBefore] = [hashes, numbers]
    hashes = new Float64Array(hashesBefore.length * 2)
    numbers = new Float64Array(hashes.length)
    for (let at = 0; at < hashesBefore.length; at += 1) {
      const hash = hashesBefore[at] as number
      if (hash === 0) continue
      const to = find(hash)
      hashes[to] = hash
      numbers[to] = numbersBefore[at] as number
    }
  }
  const add = (at: number, hash: number, number: number): void => {
    hashes[at] = hash
    numbers[at] = number
    size += 1
    if (size * 4 > hashes.length * 3) grow()
  }

  return {
    get(hash) {
      const at = find(hash)
      return hashes[at] === hash ? numbers[at] : undefined
    },
    set(hash, number) {
      const at = find(hash)
      if (hashes[at] === hash) numbers[at] = number
      else add(at, hash, number)
    },
    note(hash, number) {
      const at = find(hash)
      if (hashes[at] === hash) return numbers[at]
      add(at, hash, number)
      return undefined
    },
    size: () => size,
  }
}
