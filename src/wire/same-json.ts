/** Whether two values say the same: the order of an object's keys does not count, that of a list does. Any depth. */
import { isObject, type Json } from '../transcript/json.ts'

export function isSame(one: Json, other: Json): boolean {
  const stack: Json[] = [one, other]
  while (stack.length > 0) {
    const [b, a] = [stack.pop() as Json, stack.pop() as Json]
    if (a === b) continue
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
    if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length) return false
      for (let at = 0; at < a.length; at += 1) stack.push(a[at] as Json, b[at] as Json)
    } else {
      if (!isObject(a) || !isObject(b)) return false
      const keys = Object.keys(a)
      if (keys.length !== Object.keys(b).length) return false
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false
        stack.push(a[key] as Json, b[key] as Json)
      }
    }
  }
  return true
}
