/** Finds vendors' keys by their shapes. */
import { isAlphanumeric, isBase64, isEdge, isKeyCharacter } from './edges.ts'
import type { Find, Rule } from './rule.ts'
import { VENDOR_RULES, type VendorRule } from './vendor-rules.ts'

function findKey(rule: VendorRule): Find {
  const { id, edge, accepts } = rule
  const inside = edge === 'blob' ? isBase64 : edge === 'run' ? isKeyCharacter : isAlphanumeric
  const mayBegin = (text: string, start: number): boolean =>
    edge === 'none' || isEdge(text, start, inside) || (edge === 'blob' && isAfterWord(text, start))
  return (text, at, isStart) => {
    const start = keyStart(rule, text, at)
    if (start === undefined || !((isStart && start === at) || mayBegin(text, start))) return undefined
    const pattern = rule.pattern()
    pattern.lastIndex = start
    if (!pattern.test(text)) return undefined
    const end = pattern.lastIndex
    return accepts?.(text.slice(start, end)) === false ? undefined : { start, end, rule: id }
  }
}

/** What comes before `run-fw_…` is no base64. */
function isAfterWord(text: string, at: number): boolean {
  return /(?:^|[^A-Za-z0-9+/_-])[a-z]{2,12}[-_]$/.test(text.slice(Math.max(0, at - 16), at))
}

/** Where the key begins whose literal was found at `at`; undefined when what comes before it is none of it. */
export function keyStart({ lead }: VendorRule, text: string, at: number): number | undefined {
  if (lead === undefined) return at
  let start = at
  while (start > 0 && at - start < lead.most && lead.characters.test(text[start - 1] as string)) start -= 1
  // The mark of a diff is none of it.
  while (text[start] === '-') start += 1
  return at - start < lead.least ? undefined : start
}

/** The vendor whose key this is, from its first character to its last. */
export function vendorOf(secret: string): string | undefined {
  const beginning = secret.slice(0, 128).toLowerCase()
  return VENDOR_RULES.find((rule) => {
    if (!rule.literals.some((literal) => beginning.includes(literal))) return false
    const pattern = rule.pattern()
    pattern.lastIndex = 0
    return pattern.test(secret) && pattern.lastIndex === secret.length && (rule.accepts?.(secret) ?? true)
  })?.id
}

export const VENDOR_KEY_RULES: readonly Rule[] = VENDOR_RULES.map((rule) => ({
  literals: rule.literals,
  find: findKey(rule),
}))
