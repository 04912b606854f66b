/**
 * An entry with its longest texts cut before secrets are looked for in it: of fifty megabytes that nobody is shown, none need be looked
 * through. Whoever shows it cuts it again, well before where it was cut here, so that half of a secret at the end is never seen.
 */
import type { Redactor } from '../redact/redactor.ts'
import type { Entry } from '../transcript/entry.ts'

export type Trimmed = {
  readonly entry: Entry
  /** Bytes of the whole, by the path of what was cut. */
  readonly lengths?: ReadonlyMap<string, number>
}

export type ReadEntriesOptions = {
  /** Texts are cut to so many characters before secrets are looked for. */
  readonly longest?: number
}

/** Without secrets, and without what is too long. */
export function toShown(
  entry: Entry | undefined,
  longest: number,
  redactor: Redactor,
): { readonly entry: Entry | undefined; readonly lengths?: ReadonlyMap<string, number> } {
  if (entry === undefined || longest === Number.POSITIVE_INFINITY)
    return { entry: entry && redactor.entry(entry) }
  const { entry: trimmed, lengths } = trimEntry(entry, longest)
  return { entry: redactor.entry(trimmed), ...(lengths && { lengths }) }
}

/** What is nested deeper is left as it is: a redactor withholds it. */
const DEEPEST = 64

export function trimEntry(entry: Entry, longest: number): Trimmed {
  const lengths = new Map<string, number>()
  const walk = (value: unknown, path: string, depth: number): unknown => {
    if (typeof value === 'string') {
      if (value.length <= longest) return value
      lengths.set(path, Buffer.byteLength(value))
      return value.slice(0, longest)
    }
    if (typeof value !== 'object' || value === null || depth > DEEPEST) return value
    let changed: Map<string, unknown> | undefined
    for (const key of Object.keys(value)) {
      const member: unknown = Reflect.get(value, key)
      const shown = walk(member, path === '' ? key : `${path}.${key}`, depth + 1)
      if (shown !== member) (changed ??= new Map()).set(key, shown)
    }
    if (changed === undefined) return value
    const now = changed
    if (Array.isArray(value)) return value.map((member, at) => now.get(String(at)) ?? member)
    // `fromEntries` defines: a member that is called `__proto__` stays one.
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, now.get(key) ?? member]))
  }
  const trimmed = walk(entry, '', 0) as Entry
  return lengths.size === 0 ? { entry } : { entry: trimmed, lengths }
}
