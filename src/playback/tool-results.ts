/** Which tools a request brings results of: those that ran since the last answer, by name. */
import { partsOf } from '../replay/matching/keys.ts'
import { asArray, asObject, asString, isObject, type Json } from '../transcript/json.ts'

export function toolsThatRan(body: Json): readonly string[] {
  if (!isObject(body)) return []
  const { list } = partsOf(body)
  const names = new Map<string, string>()
  const found = new Set<string>()
  let at = list.length - 1
  const results: string[] = []
  for (; at >= 0 && !isAnswer(list[at] as Json); at -= 1)
    for (const one of partsIn(list[at] as Json)) {
      const named = asString(asObject(one['functionResponse'])?.['name'])
      if (named !== undefined) found.add(named)
      const id = asString(one['tool_use_id']) ?? asString(one['tool_call_id'])
      const output =
        asString(one['type'])?.endsWith('_output') === true ? asString(one['call_id']) : undefined
      const given = id ?? output
      if (given !== undefined) results.push(given)
    }
  for (; at >= 0 && isAnswer(list[at] as Json); at -= 1)
    for (const one of partsIn(list[at] as Json)) {
      const name = asString(one['name']) ?? asString(asObject(one['function'])?.['name'])
      const id = asString(one['call_id']) ?? asString(one['id'])
      if (id !== undefined && name !== undefined) names.set(id, name)
    }
  for (const id of results) found.add(names.get(id) ?? 'a tool')
  return [...found]
}

function isAnswer(item: Json): boolean {
  const { role, type } = asObject(item) ?? {}
  return (
    role === 'assistant' ||
    role === 'model' ||
    asString(type)?.endsWith('_call') === true ||
    type === 'reasoning'
  )
}

function partsIn(item: Json): readonly { readonly [name: string]: Json }[] {
  const object = asObject(item)
  if (object === undefined) return []
  const parts = ['content', 'parts', 'tool_calls'].flatMap((name) => asArray(object[name]) ?? [])
  return [object, ...parts.filter(isObject)]
}
