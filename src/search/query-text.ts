/** A part of a query as it could be typed: to say which part it was. */
import type { FieldTest } from './query-fields.ts'
import type { Node, Query } from './query.ts'

/** What all must hold, one by one. */
export function partsOf({ fields, condition }: Query): Node[] {
  if (condition === undefined) return [...fields]
  return [...fields, ...(condition.type === 'all' ? condition.nodes : [condition])]
}

/** The query without one of its parts; undefined when nothing would be left of it. */
export function without(query: Query, part: Node): Query | undefined {
  const fields = query.fields.filter((field) => field !== part)
  const nodes = partsOf({ ...query, fields: [] }).filter((node) => node !== part)
  if (fields.length + nodes.length === 0) return undefined
  const [first] = nodes
  const condition: Node | undefined = nodes.length > 1 ? { type: 'all', nodes } : first
  return {
    text: query.text,
    caseSensitive: query.caseSensitive,
    fields,
    ...(condition !== undefined && { condition }),
  }
}

export function toText(node: Node): string {
  switch (node.type) {
    case 'all':
      return node.nodes.map(toText).join(' ')
    case 'any':
      return `(${node.nodes.map(toText).join(' OR ')})`
    case 'not':
      return `-${node.node.type === 'all' ? `(${toText(node.node)})` : toText(node.node)}`
    case 'words':
      return `${/\s/u.test(node.text) ? `"${node.text}"` : node.text}${node.prefix ? '*' : ''}`
    case 'substring':
      return `'${node.text}'`
    case 'regex':
      return `/${node.pattern.source}/`
    case 'field':
      return fieldText(node.test)
  }
}

function fieldText(test: FieldTest): string {
  if ('values' in test) return `${test.field}:${test.values.map(quotedIfNeeded).join(',')}`
  if ('operator' in test) return `${test.field}${test.operator}${test.value}`
  return `${test.field}:${test.instant}`
}

function quotedIfNeeded(value: string): string {
  return /[\s"()]/u.test(value) ? `"${value}"` : value
}
