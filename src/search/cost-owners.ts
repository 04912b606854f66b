/** Who was the first to name a number: a table in two long lists, for a Map of numbers with fractions takes several times as long. */

/** The first that named it, and this one if nobody has. Numbers are whole, and at least 0. */
export type Owners = (number: number, owner: number) => number

const FIRST_SIZE = 1 << 14
const NONE = -1

export function createOwners(): Owners {
  let numbers = new Float64Array(FIRST_SIZE).fill(NONE)
  let owners = new Int32Array(FIRST_SIZE)
  let count = 0

  const placeOf = (number: number): number => {
    const last = numbers.length - 1
    let at = Math.imul(number % 0x1_0000_0000, 0x9e37_79b1) >>> 7
    for (at &= last; numbers[at] !== NONE && numbers[at] !== number; at = (at + 1) & last);
    return at
  }

  const grow = (): void => {
    const [known, whose] = [numbers, owners]
    numbers = new Float64Array(known.length * 4).fill(NONE)
    owners = new Int32Array(known.length * 4)
    for (let at = 0; at < known.length; at += 1) {
      const number = known[at] as number
      if (number === NONE) continue
      const place = placeOf(number)
      numbers[place] = number
      owners[place] = whose[at] as number
    }
  }

  return (number, owner) => {
    const at = placeOf(number)
    if (numbers[at] === number) return owners[at] as number
    numbers[at] = number
    owners[at] = owner
    count += 1
    if (count * 2 > numbers.length) grow()
    return owner
  }
}
