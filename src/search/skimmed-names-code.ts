/**
 * Which of the names in a skimmed line are told, and where the values behind them begin and end: instructions for `next` of
 * skimmed-lines-code.ts.
 */
import { spelled } from '../transcript/json-code.ts'
import {
  ADD,
  AND,
  anyOf,
  equals,
  fourAt,
  get,
  NE,
  not,
  number,
  OR,
  put,
  putFour,
  set,
  SHIFT,
  when,
  type Part,
} from '../transcript/wasm-code.ts'

/**
 * Where it is told, in bytes: where the values begin and end, four bytes each, and the end of the line. Behind it, what is open, from
 * the first depth on. Of counts only where they begin.
 */
export const TOLD = { starts: 0, ends: 80, end: 124, open: 127 } as const

export type SkimmedNames = {
  /** At the top of a line, each with its place among what is told. */
  readonly ofLine: readonly (readonly [name: string, place: number])[]
  readonly ofMessage: readonly (readonly [name: string, place: number])[]
  /** At the top of a line: these make it odd. */
  readonly odd: readonly string[]
  /** The place of the message. What belongs to it has higher ones. */
  readonly message: number
  readonly mostDepth: number
  readonly usage: UsageNames
}

/** The message's usage, by its place there, and the places of what is told of it. */
export type UsageNames = {
  readonly place: number
  readonly counts: readonly (readonly [name: string, place: number])[]
  /** The one that has counts of its own. */
  readonly split: number
  readonly splitCounts: readonly (readonly [name: string, place: number])[]
  /** Told of a usage that says more than these can tell: in these names, in odd ones, in the split's twice, or in other words. */
  readonly unusual: number
  readonly unusualNames: readonly string[]
  /** What stands behind a name unless the usage is unusual, as it is spelled. */
  readonly usualWords: readonly (readonly [name: string, words: readonly string[]])[]
}

/** Locals: what is given, numbers, sixteen bytes. `place`: that of the last name in the line; `inner`: in its message; `count`: in its usage. */
export const [AT, LAST, GIVEN, BYTE, STOPS, START, LENGTH] = [0, 1, 2, 3, 4, 5, 6] as const
export const [PLACE, INNER, DEPTH, ODD, ESCAPED, NAMED, COUNT, BYTES] = [7, 8, 9, 10, 11, 12, 13, 14] as const

/** Behind a name, which begins at `START` and has `LENGTH` bytes: the place of what it names, where that is told. */
export function placed(names: SkimmedNames): Part[] {
  const { ofLine, ofMessage, odd, message, usage } = names
  const { counts, split, splitCounts, unusual, unusualNames } = usage
  const odds = odd.map((name) => [name, 1] as const)
  const unusuals = unusualNames.map((name) => [name, unusual] as const)
  const ofUsage = [...counts, ...splitCounts].map(([, place]) => place)
  const forget = (places: readonly number[]): Part[] =>
    places.flatMap((place) => [...get(GIVEN), ...number(-1), ...putFour(TOLD.starts + 4 * place)])
  return [
    ...when(equals(DEPTH, 1), [
      ...put(PLACE, -1),
      ...put(INNER, -1),
      ...isOf(ofLine, (place) => put(PLACE, place)),
      ...isOf(odds, () => put(ODD, 1)),
      ...get(ODD),
      ...get(ESCAPED),
      OR,
      ...set(ODD),
      // Of a message that is said again, nothing of the one before is left.
      ...when(equals(PLACE, message), forget([message, ...ofMessage.map(([, place]) => place)])),
    ]),
    ...when(isInner(message), [
      ...put(INNER, -1),
      ...isOf(ofMessage, (place) => put(INNER, place)),
      ...get(ODD),
      ...get(ESCAPED),
      OR,
      ...set(ODD),
      ...when(equals(INNER, usage.place), [...put(COUNT, -1), ...forget([unusual, ...ofUsage])]),
    ]),
    ...when(isCount(names), [
      ...put(COUNT, -1),
      ...isOf([...counts, ...unusuals], (place) => put(COUNT, place)),
      ...when(
        [...equals(COUNT, split), ...get(GIVEN), ...fourAt(TOLD.starts + 4 * split), ...number(-1), NE, AND],
        put(COUNT, unusual),
      ),
      ...when(get(ESCAPED), put(COUNT, unusual)),
    ]),
  ]
}

/** Where a value begins, by the name before it. */
export function begun(names: SkimmedNames): Part[] {
  const { split, splitCounts, unusual, usualWords } = names.usage
  const noteUnusual = [...get(GIVEN), ...get(AT), ...putFour(TOLD.starts + 4 * unusual)]
  return [
    ...noted(names, TOLD.starts),
    ...when(isCount(names), [
      ...note(COUNT, TOLD.starts),
      ...usualWords.flatMap(([name, words]) =>
        when(
          equals(LENGTH, name.length),
          when(spelled(START, name), when(not(anyOf(words.map((word) => spelled(AT, word)))), noteUnusual)),
        ),
      ),
    ]),
    ...when(
      [...equals(DEPTH, 4), ...equals(COUNT, split), AND, ...isWithinUsage(names), AND],
      [
        ...isOf(splitCounts, (place) => [...get(GIVEN), ...get(AT), ...putFour(TOLD.starts + 4 * place)]),
        ...when(get(ESCAPED), noteUnusual),
      ],
    ),
  ]
}

/** Where the value before has ended. */
export function ended(names: SkimmedNames): Part[] {
  return noted(names, TOLD.ends)
}

/** For each of these that the name is. */
function isOf(all: readonly (readonly [string, number])[], then: (place: number) => number[]): Part[] {
  return all.flatMap(([name, place]) =>
    when(equals(LENGTH, name.length), when(spelled(START, name), then(place))),
  )
}

const isInner = (message: number): number[] => [...equals(DEPTH, 2), ...equals(PLACE, message), AND]
const isWithinUsage = ({ message, usage }: SkimmedNames): number[] => [
  ...equals(PLACE, message),
  ...equals(INNER, usage.place),
  AND,
]
const isCount = (names: SkimmedNames): number[] => [...equals(DEPTH, 3), ...isWithinUsage(names), AND]

/** Where it is now, for the value that it is at, or behind, if that is one of those that are told. */
function noted({ message }: SkimmedNames, where: number): Part[] {
  return [...when(equals(DEPTH, 1), note(PLACE, where)), ...when(isInner(message), note(INNER, where))]
}

/** Where it is now, by the place that a local has, if it has one. */
function note(local: number, where: number): Part[] {
  return when(
    [...get(local), ...number(-1), NE],
    [...get(GIVEN), ...get(local), ...number(2), SHIFT, ADD, ...get(AT), ...putFour(where)],
  )
}
