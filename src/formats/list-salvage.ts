/**
 * As much as can be had of a document around a list in which something is not right: a cut-off or damaged one gives every element that is
 * whole, and every member.
 */
import { isUtf8 } from 'node:buffer'
import type { Damage, DamageKind } from '../transcript/damage.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { parsePart, scanMembers, skipSpace, type Extent } from './devflow/scan.ts'
import { readTurns } from './devflow/turn-list.ts'

export type ListElement = {
  /** Undefined for an element over the limit, which is left where it is. */
  readonly value: Json | undefined
  readonly byteOffset: number
  readonly byteLength: number
}

/** What is not said is not there. */
export type Salvaged = {
  readonly members?: JsonObject
  readonly elements?: readonly ListElement[]
  readonly damage: readonly Damage[]
  readonly sizeBytes: number
  readonly isLines?: boolean
}

/** Why what stands behind a document is not read with it. */
export const BEHIND = 'bytes after the end of the document'

const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

export function salvageDocument(bytes: Buffer, file: string, list: string): Salvaged {
  const damage: Damage[] = []
  const report = (kind: DamageKind, from: number, to: number, reason: string): void => {
    damage.push({ kind, file, byteOffset: from, byteLength: to - from, reason })
  }
  const nothing = { damage, sizeBytes: bytes.length }
  const nul = bytes.indexOf(0)
  if (nul !== -1) report('nul', nul, skipSpace(bytes, nul), 'NUL bytes')
  if (!isUtf8(bytes)) report('not-utf8', 0, bytes.length, 'bytes that are no UTF-8, read as U+FFFD')
  const scanned = scanMembers(bytes, bytes[0] === 0xef ? 3 : 0)
  if (scanned === undefined) {
    report('not-json', 0, bytes.length, bytes.length === 0 ? 'empty' : 'not a JSON object')
    return nothing
  }
  const tail = skipSpace(bytes, scanned.to)
  const hasTail = scanned.ended && tail < bytes.length
  const isLines = hasTail && bytes[tail] === OPEN_BRACE
  const at = scanned.members.get(list)
  const isList = at === undefined || bytes[at.from] === OPEN_BRACKET || parsePart(bytes, at) === null
  const members = readMembers(bytes, scanned.members, { report, ...(isList && { skip: list }) })
  const found = isList && at !== undefined ? readElements(bytes, at, file, !hasTail) : undefined
  for (const one of found?.damage ?? []) damage.push(one)
  if (!scanned.ended && !damage.some(({ kind }) => kind === 'torn'))
    report('torn', scanned.to, bytes.length, 'the file ends before the document does')
  if (hasTail) report('not-json', scanned.to, bytes.length, BEHIND)
  return { ...nothing, members, isLines, ...(found && { elements: found.elements }) }
}

/** `cut` is why the bytes end before the file does. */
export function salvageBareList(bytes: Buffer, file: string, cut: Damage | undefined): Salvaged {
  const damage: Damage[] = cut === undefined ? [] : [cut]
  const list = { damage, sizeBytes: bytes.length }
  const report = (kind: DamageKind, reason: string, byteOffset = 0): void => {
    damage.push({ kind, file: file, byteOffset, byteLength: bytes.length - byteOffset, reason })
  }
  const from = skipSpace(bytes, bytes[0] === 0xef ? 3 : 0)
  if (bytes[from] !== OPEN_BRACKET) {
    report('not-json', bytes.length === 0 ? 'empty' : 'not a JSON list')
    return list
  }
  if (!isUtf8(bytes)) report('not-utf8', 'bytes that are no UTF-8, read as U+FFFD')
  const found = readElements(bytes, { from, to: bytes.length, whole: true }, file, true)
  for (const one of found.damage) if (cut === undefined || one.kind !== 'torn') damage.push(one)
  const isEnded = bytes[lastByte(bytes)] === CLOSE_BRACKET
  if (!isEnded && damage.length === 0) report('torn', 'the file ends before the list does', bytes.length)
  return { ...list, elements: found.elements }
}

/** Where the last byte stands that is no white space. */
function lastByte(bytes: Buffer): number {
  let at = bytes.length - 1
  while (at > 0 && (bytes[at] as number) <= 0x20) at -= 1
  return at
}

type Found = { readonly elements: readonly ListElement[]; readonly damage: readonly Damage[] }

/** What is no object is an element as well, in its place. */
function readElements(bytes: Buffer, at: Extent, file: string, trusted: boolean): Found {
  const { turns, damage } = readTurns(bytes, at, { file, trusted })
  const isElement = ({ kind, byteOffset }: Damage): boolean =>
    kind === 'not-an-entry' && byteOffset !== at.from
  const others = damage.filter(isElement).map(({ byteOffset, byteLength }): ListElement => {
    const value = parsePart(bytes, { from: byteOffset, to: byteOffset + byteLength })
    return { value: value ?? null, byteOffset, byteLength }
  })
  if (others.length === 0) return { elements: turns, damage }
  const elements = [...turns, ...others].sort((a, b) => a.byteOffset - b.byteOffset)
  return { elements, damage: damage.filter((one) => !isElement(one)) }
}

type Report = (kind: DamageKind, from: number, to: number, reason: string) => void

type MemberOptions = { readonly skip?: string; readonly report: Report; readonly isTop?: boolean }

/** Everything but the list. Of an object that is cut off, the members that are whole. */
function readMembers(
  bytes: Buffer,
  extents: ReadonlyMap<string, Extent>,
  { skip, report, isTop = true }: MemberOptions,
): JsonObject {
  const members = Object.create(null) as Record<string, Json>
  for (const [key, extent] of extents) {
    if (key === skip) continue
    const value = extent.whole ? parsePart(bytes, extent) : undefined
    if (value !== undefined) {
      members[key] = value
      continue
    }
    report(extent.whole ? 'not-json' : 'torn', extent.from, extent.to, 'a member that cannot be read whole')
    const inner = isTop ? innerMembers(bytes, extent.from) : undefined
    if (inner !== undefined) members[key] = inner
  }
  return members
}

/** What can be read of an object that is cut off or damaged; undefined for what is none. */
export function innerMembers(bytes: Buffer, from: number): JsonObject | undefined {
  const inner = scanMembers(bytes, from)
  return inner && readMembers(bytes, inner.members, { report: () => undefined, isTop: false })
}
