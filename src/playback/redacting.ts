/**
 * A live request as the recording has it: without what the redactor finds, with the same key. Requests repeat their history, so what was
 * redacted with the one before is not redacted again.
 */
import type { Redactor } from '../redact/redactor.ts'
import { sameItems } from '../replay/matching/keys.ts'
import { asArray, isObject, type Json } from '../transcript/json.ts'
import { isSame } from '../wire/same-json.ts'

type Known = { readonly raw: Json; readonly redacted: Json }

/** Conversations that go on side by side. */
const MOST_KNOWN = 8

export function createRedacting(redactor: Pick<Redactor, 'json'>): (body: Json) => Json {
  const bodies: { [field: string]: Known }[] = []
  const redactField = (name: string, value: Json, before: Known | undefined): Json => {
    // Its name tells whether a value is a secret.
    const redact = (one: Json): Json =>
      (redactor.json({ [name]: one }) as { readonly [field: string]: Json })[name] as Json
    if (before === undefined) return redact(value)
    if (isSame(before.raw, value)) return before.redacted
    const [items, known, done] = [asArray(value), asArray(before.raw), asArray(before.redacted)]
    if (items === undefined || known === undefined || done === undefined || done.length !== known.length)
      return redact(value)
    const same = sameItems(known, items)
    const rest = asArray(redact(items.slice(same)))
    if (rest === undefined) return redact(value)
    return (same === done.length ? done : done.slice(0, same)).concat(rest)
  }
  return (body) => {
    if (!isObject(body) || Object.hasOwn(body, '__proto__')) return redactor.json(body)
    const known = bodies.find((one) => isGoingOn(one, body))
    const next: { [field: string]: Known } = {}
    for (const [name, raw] of Object.entries(body))
      next[name] = { raw, redacted: redactField(name, raw, known?.[name]) }
    if (known !== undefined) bodies.splice(bodies.indexOf(known), 1)
    bodies.unshift(next)
    if (bodies.length > MOST_KNOWN) bodies.pop()
    return Object.fromEntries(Object.entries(next).map(([name, { redacted }]) => [name, redacted]))
  }
}

/** The same conversation begins with the same message. */
function isGoingOn(
  known: { readonly [field: string]: Known },
  body: { readonly [field: string]: Json },
): boolean {
  return ['messages', 'input', 'contents'].some((name) => {
    const [first] = asArray(body[name]) ?? []
    const [before] = asArray(known[name]?.raw) ?? []
    return first !== undefined && before !== undefined && isSame(first, before)
  })
}
