/**
 * The values of lines whose shape is known (line-shapes.ts), made one by one as they are asked for. Texts that are only compared are
 * hashed where they stand.
 */
import { END, LONG, mixedWith, STEP, toHash, type HashStep, type Mixed } from './call-hash.ts'
import type { Cutter } from './cut-strings.ts'
import { FLAGS, SHAPE_TOLD, VALUE_BYTES } from './line-shapes-code.ts'
import { hashText } from './text-hash.ts'

/** A value is named by its place among those of its line. */
export type LineValues = {
  /** Which line is asked for: where its values are told. */
  of(valuesAt: number): void
  isEmpty(place: number): boolean
  /** Of a string. */
  text(place: number): string
  /** The number; -1 for one that is not a few digits and nothing else. */
  count(place: number): number
  /** As `hashText` has it, of the text. */
  hash(place: number): number
  /** Begins a call's hash. */
  begin(mixed: Mixed): void
  mixStep(step: HashStep): void
  /** Mixes in a text; false for one that has to be looked at for what it says: it may be a patch. */
  mix(place: number): boolean
  /** Mixes in a number as it is spelled; false where that is not how it would be. */
  mixNumber(place: number): boolean
  mixed(): number
}

/** Digits of a number that is exact. */
const MOST_DIGITS = 15
const PATCH = '*** '
const [LOW, HIGH, ID_HIGH] = [SHAPE_TOLD.low >> 2, SHAPE_TOLD.high >> 2, SHAPE_TOLD.idHigh >> 2] as const

export function createLineValues(cutter: Cutter): LineValues {
  const { hasStars, mix, hashId } = cutter.shapes
  let numbers = cutter.numbers()
  let bytes = cutter.room(0)
  let from = 0

  const at = (place: number): number => from + (place * VALUE_BYTES) / 4
  const text = (place: number): string => {
    const value = at(place)
    const start = numbers[value] as number
    const end = numbers[value + 1] as number
    if (numbers[value + 2] === 0) return bytes.toString('latin1', start, end)
    return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string
  }
  const mixStep = (step: HashStep): void => {
    const { low, high } = mixedWith({ low: numbers[LOW] as number, high: numbers[HIGH] as number }, step)
    numbers[LOW] = low
    numbers[HIGH] = high
  }
  const mixBytes = (start: number, end: number): void => {
    if (end - start <= LONG) mix(start, end, 4)
    else {
      mix(start, start + END, 4)
      mix(start + END, end - END, STEP)
      mix(end - END, end, 4)
    }
    mixStep(end - start)
  }
  const count = (place: number): number => {
    const value = at(place)
    const start = numbers[value] as number
    const end = numbers[value + 1] as number
    if (end - start > MOST_DIGITS) return -1
    let sum = 0
    for (let n = start; n < end; n += 1) {
      const digit = (bytes[n] as number) - 0x30
      if (digit < 0 || digit > 9) return -1
      sum = sum * 10 + digit
    }
    return sum
  }

  return {
    of(valuesAt) {
      numbers = cutter.numbers()
      bytes = cutter.room(0)
      from = valuesAt
    },
    isEmpty: (place) => numbers[at(place)] === numbers[at(place) + 1],
    text,
    count,
    hash(place) {
      const value = at(place)
      if (numbers[value + 2] !== 0) return hashText(text(place))
      const low = hashId(numbers[value] as number, numbers[value + 1] as number)
      return ((numbers[ID_HIGH] as number) & 0x1fffff) * 0x1_0000_0000 + (low >>> 0) || 1
    },
    begin({ low, high }) {
      numbers[LOW] = low
      numbers[HIGH] = high
    },
    mixStep,
    mix(place) {
      const value = at(place)
      const start = numbers[value] as number
      const end = numbers[value + 1] as number
      const isOdd = ((numbers[value + 2] as number) & FLAGS.odd) !== 0
      if (!isOdd && hasStars(start, end) === 0) {
        mixBytes(start, end)
        return true
      }
      const said = text(place)
      if (said.includes(PATCH)) return false
      mixStep(said)
      return true
    },
    mixNumber(place) {
      if (count(place) === -1) return false
      const value = at(place)
      mixBytes(numbers[value] as number, numbers[value + 1] as number)
      return true
    },
    mixed: () => toHash({ low: numbers[LOW] as number, high: numbers[HIGH] as number }),
  }
}
