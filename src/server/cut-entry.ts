/** An entry cut down to what a page shows at once: long texts to their beginning, large values to their first parts, each with how much there is. */
import { cutText } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'

/** Characters of one text, and of all in an entry. */
const TEXT_LENGTH = 20_000
const ENTRY_LENGTH = 64_000
/** A picture that is cut is none; up to this size it is whole. */
const IMAGE_LENGTH = 200_000
const DEEPEST = 64
/** Of cuts that are told of. */
const MOST_CUTS = 200

const NO_LENGTHS: ReadonlyMap<string, number> = new Map()

export type CutEntry = {
  readonly entry: Entry
  /** Bytes of the whole, by the path of what was cut. */
  readonly cut?: { readonly [path: string]: number }
}

/** Texts may be cut to this before: half of a secret at the end is then not among what is shown. */
export const LONGEST_READ = 400_000

/** `lengths`: bytes of what was cut before, by path. */
export function cutEntry(entry: Entry, lengths: ReadonlyMap<string, number> = NO_LENGTHS): CutEntry {
  const cuts = new Map<string, number>()
  const bytesOf = (value: unknown, path: string): number => {
    const known = lengths.get(path)
    if (known !== undefined || typeof value === 'string') return known ?? Buffer.byteLength(value as string)
    const before = [...lengths].reduce((sum, [one, size]) => sum + (one.startsWith(`${path}.`) ? size : 0), 0)
    return Math.max(before, Buffer.byteLength(toJson(value)))
  }
  let left = ENTRY_LENGTH
  const note = (path: string, bytes: () => number): void => {
    if (cuts.size < MOST_CUTS) cuts.set(path, bytes())
  }
  const text = (value: string, path: string): string => {
    const most = Math.min(TEXT_LENGTH, Math.max(0, left))
    left -= Math.min(value.length, most)
    if (value.length <= most) return value
    note(path, () => bytesOf(value, path))
    return most === 0 ? '' : cutText(value, most)
  }
  const walk = (value: unknown, path: string, depth: number): unknown => {
    if (typeof value === 'string') return text(value, path)
    if (typeof value !== 'object' || value === null) {
      left -= 4
      return value
    }
    if (depth > DEEPEST) {
      note(path, () => bytesOf(value, path))
      return null
    }
    if (isPicture(value)) {
      if (value.data.length <= IMAGE_LENGTH) return value
      note(`${path}.data`, () => bytesOf(value.data, `${path}.data`))
      return { ...value, data: '' }
    }
    const members: [string, unknown][] = []
    const all = Object.entries(value)
    let isSame = true
    for (const [key, member] of all) {
      // What an entry is made of stays; of what is in it, as much as there is room for.
      if (left <= 0 && depth > 1) {
        note(path, () => bytesOf(value, path))
        isSame = false
        break
      }
      left -= Array.isArray(value) ? 2 : key.length + 4
      const shown = walk(member, path === '' ? key : `${path}.${key}`, depth + 1)
      isSame &&= shown === member
      members.push([key, shown])
    }
    if (isSame) return value
    // `fromEntries` defines: a member that is called `__proto__` stays one.
    return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
  }
  const shown = walk(entry, '', 0) as Entry
  return cuts.size === 0 ? { entry } : { entry: shown, cut: Object.fromEntries(cuts) }
}

function isPicture(value: object): value is { readonly data: string } {
  return 'type' in value && value.type === 'image' && 'data' in value && typeof value.data === 'string'
}
