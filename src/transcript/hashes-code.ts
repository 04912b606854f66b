/**
 * Two hashes of texts that stand in the memory of a module, the same that JavaScript has of them: of what a call says (call-hash.ts), part
 * by part, and of an id (text-hash.ts).
 */
import { FIRST, SECOND } from './call-hash.ts'
import {
  ADD,
  addTo,
  END,
  EQZ,
  fourAt,
  get,
  laidOut,
  LESS,
  LESS_SIGNED,
  loaded,
  number,
  put,
  putFour,
  set,
  SHIFT_BACK,
  SUB,
  TIMES,
  when,
  XOR,
  type Code,
  type Part,
} from './wasm-code.ts'

/** Where the halves are: of a call's hash before and behind each part, of an id's the upper one. Four bytes each. */
export type HashesTold = { readonly low: number; readonly high: number; readonly idHigh: number }

export function codesOfHashes(told: HashesTold): readonly Code[] {
  return [
    { name: 'mix', given: 3, numbers: 3, sixteens: 0, body: [...laidOut(mixParts(told)), END] },
    { name: 'hashId', given: 2, numbers: 4, sixteens: 0, body: [...laidOut(hashIdParts(told)), END] },
  ]
}

/** `mix(from, to, step)`: a part of a text into the hash of a call, see call-hash.ts. */
function mixParts({ low, high }: HashesTold): Part[] {
  const [AT, LAST, STEP, LOW, HIGH, WORD] = [0, 1, 2, 3, 4, 5] as const
  const held = (place: number): number[] => [...number(0), ...fourAt(place)]
  const times = (local: number, by: number, factor: number, shift: number): number[] => [
    ...get(local),
    ...get(WORD),
    by,
    ...number(factor | 0),
    TIMES,
    ...set(local),
    ...get(local),
    ...get(local),
    ...number(shift),
    SHIFT_BACK,
    XOR,
    ...set(local),
  ]
  const mixed = [...times(LOW, XOR, FIRST, 15), ...times(HIGH, ADD, SECOND, 13)]
  return [
    ...held(low),
    ...set(LOW),
    ...held(high),
    ...set(HIGH),
    {
      loop: 'words',
      parts: when(
        // Behind its end by some bytes, it is not four before it.
        [...get(LAST), ...number(4), SUB, ...get(AT), LESS_SIGNED, EQZ],
        [
          ...get(AT),
          ...fourAt(0),
          ...set(WORD),
          ...mixed,
          ...get(AT),
          ...get(STEP),
          ADD,
          ...set(AT),
          { to: 'words' },
        ],
      ),
    },
    {
      loop: 'bytes',
      parts: when(
        [...get(AT), ...get(LAST), LESS],
        [...loaded(AT, WORD), ...mixed, ...addTo(AT, 1), { to: 'bytes' }],
      ),
    },
    ...number(0),
    ...get(LOW),
    ...putFour(low),
    ...number(0),
    ...get(HIGH),
    ...putFour(high),
    ...number(0),
  ]
}

/** `hashId(from, to)`: as `hashText` has it, of ASCII: gives the lower half. */
function hashIdParts({ idHigh }: HashesTold): Part[] {
  const [AT, LAST, FIRST, SECOND, BYTE, HIGH] = [0, 1, 2, 3, 4, 5] as const
  const times = (local: number, factor: number): number[] => [
    ...get(local),
    ...get(BYTE),
    XOR,
    ...number(factor | 0),
    TIMES,
    ...set(local),
  ]
  const folded = (local: number, by: number, factor: number): number[] => [
    ...get(local),
    ...get(local),
    ...number(by),
    SHIFT_BACK,
    XOR,
    ...number(factor | 0),
    TIMES,
  ]
  return [
    ...put(FIRST, 0xdeadbeef | 0),
    ...put(SECOND, 0x41c6ce57),
    {
      loop: 'on',
      parts: when(
        [...get(AT), ...get(LAST), LESS],
        [
          ...loaded(AT, BYTE),
          ...times(FIRST, 2654435761),
          ...times(SECOND, 1597334677),
          ...addTo(AT, 1),
          { to: 'on' },
        ],
      ),
    },
    ...folded(FIRST, 16, 2246822507),
    ...folded(SECOND, 13, 3266489909),
    XOR,
    ...set(HIGH),
    ...number(0),
    ...get(HIGH),
    ...putFour(idHigh),
    ...folded(SECOND, 16, 2246822507),
    ...folded(HIGH, 13, 3266489909),
    XOR,
  ]
}
