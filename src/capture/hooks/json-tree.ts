/**
 * JSON as people write it in settings, read with the place of everything in it, so that it can be changed where it stands: comments
 * and commas too many are taken where the agent takes them. Text that is not that is answered with what is wrong and where.
 */
import { toProblem, Unreadable, type SettingsProblem } from './unreadable.ts'

export type JsonNode =
  | {
      readonly kind: 'object'
      readonly start: number
      readonly end: number
      readonly members: readonly Member[]
    }
  | { readonly kind: 'array'; readonly start: number; readonly end: number; readonly items: readonly Item[] }
  | { readonly kind: 'value'; readonly start: number; readonly end: number; readonly value: unknown }

/** `comma`: where the one after it stands. */
export type Item = { readonly node: JsonNode; readonly start: number; readonly comma: number | undefined }
export type Member = Item & { readonly key: string }

const DEPTH_LIMIT = 100
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

export function parseTree(
  text: string,
  { comments = false }: { readonly comments?: boolean } = {},
): JsonNode | SettingsProblem {
  let at = text.startsWith('\uFEFF') ? 1 : 0

  const fail = (problem: string): never => {
    throw new Unreadable(problem, at)
  }
  const space = (): void => {
    for (;;) {
      while (at < text.length && ' \t\r\n'.includes(text[at] as string)) at += 1
      const end = commentEnd(text, at)
      if (end === undefined) return
      if (!comments) fail('a comment, which this agent does not take')
      at = end
    }
  }
  const string = (): string => {
    let end = at + 1
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
    const literal = text.slice(at, end + 1)
    try {
      const value: unknown = JSON.parse(literal)
      if (typeof value !== 'string') return fail('not a string')
      at = end + 1
      return value
    } catch {
      return fail('a string that does not end, or is none')
    }
  }
  const value = (depth: number): JsonNode => {
    space()
    if (depth > DEPTH_LIMIT) fail(`nested deeper than ${DEPTH_LIMIT}`)
    const start = at
    const first = text[at]
    if (first === '{' || first === '[') return container(start, first === '{', depth)
    if (first === '"') return { kind: 'value', value: string(), start, end: at }
    LITERAL.lastIndex = at
    const [literal] = LITERAL.exec(text) ?? []
    if (literal === undefined) return fail(at < text.length ? 'no JSON' : 'the end, too early')
    at += literal.length
    return { kind: 'value', value: JSON.parse(literal) as unknown, start, end: at }
  }
  const container = (start: number, isObject: boolean, depth: number): JsonNode => {
    const close = isObject ? '}' : ']'
    const items: Member[] = []
    at += 1
    space()
    while (text[at] !== close) {
      const begin = at
      let key = ''
      if (isObject) {
        if (text[at] !== '"') fail('no name')
        key = string()
        space()
        if (text[at] !== ':') fail('no colon')
        at += 1
      }
      const node = value(depth + 1)
      space()
      const comma = text[at] === ',' ? at : undefined
      items.push({ key, node, start: begin, comma })
      if (comma === undefined) {
        if (text[at] !== close) fail('no comma')
        break
      }
      at += 1
      space()
      if (text[at] === close && !comments) fail('a comma too many')
    }
    at += 1
    return isObject
      ? { kind: 'object', start, end: at, members: items }
      : { kind: 'array', start, end: at, items }
  }

  try {
    const root = value(0)
    space()
    return at < text.length ? fail('something after the end') : root
  } catch (error) {
    return toProblem(error, text)
  }
}

/** Where the comment that begins here ends; undefined where none does, or it has no end. */
export function commentEnd(text: string, at: number): number | undefined {
  if (text.startsWith('//', at)) {
    const end = text.indexOf('\n', at)
    return end === -1 ? text.length : end
  }
  if (!text.startsWith('/*', at)) return undefined
  const end = text.indexOf('*/', at + 2)
  return end === -1 ? undefined : end + 2
}

/** As programs read it: of two members of one name, the last. */
export function memberOf(node: JsonNode, key: string): Member | undefined {
  return node.kind === 'object' ? node.members.findLast((member) => member.key === key) : undefined
}

export function valueOf(node: JsonNode): unknown {
  if (node.kind === 'value') return node.value
  if (node.kind === 'array') return node.items.map((item) => valueOf(item.node))
  return Object.fromEntries(node.members.map((member) => [member.key, valueOf(member.node)]))
}
