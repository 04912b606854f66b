/**
 * Where the reading of a large document stands, and what was found of it so far: the bytes come in as they are asked for, and what is
 * found or damaged is handed over some at a time.
 */
import { isUtf8 } from 'node:buffer'
import type { Damage, DamageKind } from '../transcript/damage.ts'
import type { Json } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import { parseLong } from '../transcript/long-json.ts'
import type { ByteWindow } from './byte-window.ts'
import { parsePart, skipSpace } from './devflow/scan.ts'
import type { ListElement } from './list-salvage.ts'
import { createValueSkip } from './value-skip.ts'

export type ListPiece =
  /** The list begins; of several the last counts, as in JSON. */
  | { readonly type: 'list' }
  | { readonly type: 'element'; readonly element: ListElement }
  | { readonly type: 'member'; readonly key: string; readonly value: Json; readonly bytes: number }
  | { readonly type: 'damage'; readonly damage: Damage }
  /** Another object stands behind the end: the file is lines, not a document. */
  | { readonly type: 'lines' }
  /** The last. */
  | { readonly type: 'end'; readonly sizeBytes: number }

/** Elements longer than this are parsed without all of them as one text. */
const LONG_BYTES = 1024 * 1024
const BATCH = 256
const BATCH_BYTES = 1024 * 1024
/** Places that are told of one by one; those behind are told of together. */
const MOST_DAMAGE = 1000

export type Walk = ReturnType<typeof createWalk>
type Ends = { readonly to: number; readonly isWhole: boolean }

export function createWalk(window: ByteWindow, file: string) {
  let found: ListPiece[] = []
  let foundBytes = 0
  let isUtf = true
  let isTorn = false
  const damages: { kind: DamageKind; from: number; to: number | undefined; reason: string }[] = []
  return {
    window,
    give(piece: ListPiece): void {
      found.push(piece)
      if (piece.type === 'element') foundBytes += piece.element.byteLength
    },
    /** As many as are handed over at a time. */
    get isFull(): boolean {
      return found.length >= BATCH || foundBytes >= BATCH_BYTES
    },
    /** In the window. */
    at: 0,
    /** Nothing behind this place can be made out. */
    isOver: false,
    get isTorn() {
      return isTorn
    },
    here(): number {
      return window.base + this.at
    },
    /** Up to the next byte that is no space, and no comma where asked. False at the end of the file. */
    async space(also?: number): Promise<boolean> {
      for (;;) {
        this.at = skipSpace(window.bytes, this.at, also)
        if (this.at < window.bytes.length) return true
        const { at } = this
        this.at = 0
        if (!(await window.more(at))) return false
      }
    },
    /**
     * The value that begins here, held; undefined when it is over the limit, with the reading where it was. `isStrict`: up to the first
     * byte that can stand in no JSON.
     */
    async value(limit = RECORD_LIMIT, isStrict = false): Promise<Ends | undefined> {
      const skip = createValueSkip(isStrict)
      for (let scanned = this.at; ;) {
        const to = skip.on(window.bytes, scanned)
        if (to !== -1) return { to, isWhole: skip.isWhole }
        const held = window.bytes.length - this.at
        if (held > limit) return undefined
        const { at } = this
        this.at = 0
        if (!(await window.more(at))) return { to: window.bytes.length, isWhole: false }
        scanned = held
      }
    },
    /** Past the value that begins here, however long. False when the file ends in it. */
    async pass(): Promise<boolean> {
      const skip = createValueSkip()
      for (;;) {
        const to = skip.on(window.bytes, this.at)
        this.at = to === -1 ? window.bytes.length : to
        if (to !== -1) return skip.isWhole
        const { at } = this
        this.at = 0
        if (!(await window.more(at))) return false
      }
    },
    parse(to: number): Json | undefined {
      isUtf &&= isUtf8(window.bytes.subarray(this.at, to))
      // What is read already is in the window's own memory, and is not looked at again when it is right.
      const long = to - this.at > LONG_BYTES ? parseLong(window.bytes.subarray(this.at, to)) : undefined
      return long === undefined ? parsePart(window.bytes, { from: this.at, to }) : long.value
    },
    report(kind: DamageKind, from: number, to: number | undefined, reason: string): void {
      isTorn ||= kind === 'torn'
      if (damages.length < MOST_DAMAGE) damages.push({ kind, from, to, reason })
      else
        damages[MOST_DAMAGE] = {
          kind,
          from: damages[MOST_DAMAGE]?.from ?? from,
          to,
          reason: 'all that is damaged from here',
        }
    },
    async toEnd(): Promise<void> {
      while (await window.more(window.bytes.length));
      this.at = 0
    },
    take(isEnd = false): ListPiece[] {
      const taken = found
      found = []
      foundBytes = 0
      if (!isEnd) return taken
      const sizeBytes = window.base + window.bytes.length
      const say = (kind: DamageKind, from: number, to: number, reason: string): void =>
        void taken.push({
          type: 'damage',
          damage: { kind, file, byteOffset: from, byteLength: to - from, reason },
        })
      const { broken, nuls } = window
      if (broken !== undefined) say(broken.kind, sizeBytes, sizeBytes, broken.reason)
      if (nuls !== undefined) say('nul', nuls.at, nuls.at + nuls.length, 'NUL bytes')
      if (!isUtf) say('not-utf8', 0, sizeBytes, 'bytes that are no UTF-8, read as U+FFFD')
      for (const { kind, from, to = sizeBytes, reason } of damages) {
        // What the bytes lack is the same loss, said once.
        if (broken === undefined || kind !== 'torn') say(kind, from, to, reason)
      }
      taken.push({ type: 'end', sizeBytes })
      return taken
    },
  }
}
