/**
 * JSON on one line with a space after each comma and colon, the way Python writes it and the way two of the seeds show it:
 * `{"path": "src", "depth": 2}`. An explicit stack, so no depth is too deep.
 */
import { isObject } from '../transcript/json.ts'

export function toSpacedJson(value: unknown): string {
  const out: string[] = []
  const stack: (string | { readonly value: unknown })[] = [{ value }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') out.push(next)
    else if (Array.isArray(next.value)) {
      const items: readonly unknown[] = next.value
      stack.push(']')
      for (let i = items.length - 1; i >= 0; i -= 1) {
        stack.push({ value: items[i] ?? null })
        if (i > 0) stack.push(', ')
      }
      out.push('[')
    } else if (isObject(next.value)) {
      const object = next.value
      const keys = Object.keys(object).filter((key) => object[key] !== undefined)
      stack.push('}')
      for (let i = keys.length - 1; i >= 0; i -= 1) {
        const key = keys[i] as string
        stack.push({ value: object[key] }, `${i > 0 ? ', ' : ''}${JSON.stringify(key)}: `)
      }
      out.push('{')
    } else out.push(JSON.stringify(next.value) ?? 'null')
  }
  return out.join('')
}
