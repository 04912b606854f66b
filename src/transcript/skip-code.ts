/** Over one value of JSON, whatever it holds, as a function of WebAssembly. */
import { aNumber, aWord, CLOSES, COLON, COMMA, insideString, OPEN, OPEN_LIST, QUOTE } from './json-code.ts'
import {
  ADD,
  addTo,
  AT_LEAST,
  byteAt,
  EQ,
  equals,
  get,
  giveBack,
  loaded,
  not,
  number,
  OR,
  put,
  putByte,
  set,
  when,
  type Part,
} from './wasm-code.ts'

/** What is open, from the first depth on. */
const OPEN_AT = 64
const MOST_DEPTH = 250
export const OPEN_END = OPEN_AT + MOST_DEPTH + 1

const refused = giveBack(number(-1))

/** `skip(at)`: where the value ends that begins there; -1 for what `JSON.parse` would not take, what is too deep, and space between values. */
export function skipParts(): Part[] {
  const [AT, BYTE, STOPS, START, DEPTH, NAMED, BYTES] = [0, 1, 2, 3, 4, 5, 6] as const
  const load = loaded(AT, BYTE)
  const aString: Part[] = [
    ...addTo(AT, 1),
    ...insideString({ at: AT, stops: STOPS, byte: BYTE, bytes: BYTES }, refused),
    ...addTo(AT, 1),
  ]
  const opened = [...get(DEPTH), ...byteAt(OPEN_AT)]
  const isClosed = [...opened, ...number(CLOSES), ADD, ...get(BYTE), EQ]
  const isNamed: Part[] = [...opened, ...number(OPEN), EQ, ...set(NAMED), { to: 'value' }]
  return [
    {
      loop: 'value',
      parts: [
        ...when(get(NAMED), [
          ...put(NAMED, 0),
          ...load,
          ...when(not(equals(BYTE, QUOTE)), refused),
          ...aString,
          ...load,
          ...when(not(equals(BYTE, COLON)), refused),
          ...addTo(AT, 1),
        ]),
        {
          block: 'after',
          parts: [
            ...load,
            ...when(equals(BYTE, QUOTE), [...aString, { to: 'after' }]),
            ...when(
              [...equals(BYTE, OPEN), ...equals(BYTE, OPEN_LIST), OR],
              [
                ...when([...get(DEPTH), ...number(MOST_DEPTH), AT_LEAST], refused),
                ...addTo(DEPTH, 1),
                ...get(DEPTH),
                ...get(BYTE),
                ...putByte(OPEN_AT),
                ...addTo(AT, 1),
                ...load,
                ...when(isClosed, [...addTo(DEPTH, -1), ...addTo(AT, 1), { to: 'after' }]),
                ...isNamed,
              ],
            ),
            ...aWord(AT, BYTE, refused, [{ to: 'after' }]),
            ...load,
            ...aNumber({ at: AT, byte: BYTE, start: START }, refused),
          ],
        },
        {
          loop: 'closed',
          parts: [
            ...when(not(get(DEPTH)), giveBack(get(AT))),
            ...load,
            ...when(equals(BYTE, COMMA), [...addTo(AT, 1), ...isNamed]),
            ...when(isClosed, [...addTo(DEPTH, -1), ...addTo(AT, 1), { to: 'closed' }]),
            ...refused,
          ],
        },
      ],
    },
    ...number(-1),
  ]
}
