/** Tools that run side by side end in any order, and agents send their results as they come: put in the order of their calls' ids. */
import { asObject, asString, type Json } from '../../transcript/json.ts'

/** Results only change places with each other; everything else stays where it is. The list itself where there is nothing to do. */
export function arranged(items: readonly Json[]): readonly Json[] {
  let made: Json[] | undefined
  for (let start = 0; start < items.length; start += 1) {
    let end = start
    while (end < items.length && resultOf(items[end] as Json) !== undefined) end += 1
    if (end - start < 2) continue
    const group = items.slice(start, end).sort((a, b) => ((resultOf(a) ?? '') < (resultOf(b) ?? '') ? -1 : 1))
    made ??= [...items]
    made.splice(start, group.length, ...group)
    start = end
  }
  return made ?? items
}

/** The id of the call that a part of a message, or a message, is the result of. */
function resultOf(item: Json): string | undefined {
  const object = asObject(item)
  if (object === undefined) return undefined
  const id = asString(object['tool_use_id']) ?? asString(object['tool_call_id'])
  if (id !== undefined) return id
  if (asString(object['type'])?.endsWith('_output') === true) return asString(object['call_id'])
  return asString(asObject(object['functionResponse'])?.['id'])
}
