/**
 * Changes to JSON settings as text: something is put in, or taken out, and every other byte stays. What is put in looks like what is
 * around it: its indentation, its line ends, all on one line where the file is.
 */
import { commentEnd, type JsonNode } from './json-tree.ts'

/** In the order of their places, which are those of the text before. */
export type Insertion = { readonly at: number; readonly text: string }
export type Cut = { readonly from: number; readonly to: number }

export type Style = { readonly unit: string; readonly eol: string; readonly isOneLine: boolean }

export function styleOf(text: string, root: JsonNode): Style {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const items = itemsOf(root)
  const unit = items[0] === undefined ? undefined : /\n([ \t]+)$/.exec(text.slice(0, items[0].start))?.[1]
  const isOneLine = items.length > 0 && !text.slice(root.start, root.end).includes('\n')
  return { unit: unit ?? '  ', eol, isOneLine }
}

/**
 * Puts a member or an item at the end of a container. `depth`: the container's, from 0. Two insertions where the comma belongs after
 * what was the last, and a comment stands between.
 */
export function appendTo(
  text: string,
  node: JsonNode,
  added: { readonly key?: string; readonly value: unknown },
  { depth, style }: { readonly depth: number; readonly style: Style },
): readonly Insertion[] {
  const items = itemsOf(node)
  const last = items.at(-1)
  const isOneLine =
    style.isOneLine || (last !== undefined && !text.slice(node.start, node.end).includes('\n'))
  const name = added.key === undefined ? '' : `${JSON.stringify(added.key)}: `
  const indent = style.unit.repeat(depth + 1)
  const shown = isOneLine
    ? `${name}${JSON.stringify(added.value)}`
    : `${name}${JSON.stringify(added.value, null, style.unit).replaceAll('\n', style.eol + indent)}`
  const before = isOneLine ? (last === undefined ? '' : ' ') : style.eol + indent
  const place = endOfContent(
    text,
    last === undefined ? node.start + 1 : (last.comma ?? last.node.end - 1) + 1,
  )
  if (last === undefined) {
    const after = isOneLine ? '' : style.eol + style.unit.repeat(depth)
    return [{ at: place, text: `${before}${shown}${after}` }]
  }
  // A comma that was too many before is too many after, too: it tells, later, that none of them is ours.
  if (last.comma !== undefined) return [{ at: place, text: `${before}${shown},` }]
  if (place === last.node.end) return [{ at: place, text: `,${before}${shown}` }]
  return [
    { at: last.node.end, text: ',' },
    { at: place, text: `${before}${shown}` },
  ]
}

/** What to cut so that an item of a container is gone, with its comma. */
export function cutOf(text: string, node: JsonNode, index: number): readonly Cut[] {
  const items = itemsOf(node)
  const item = items[index]
  if (item === undefined) return []
  const before = items[index - 1]
  if (items.length === 1) {
    const to = item.comma === undefined ? item.node.end : item.comma + 1
    // Nothing else in it: it closes where it opens.
    const isBare = `${text.slice(node.start + 1, item.start)}${text.slice(to, node.end - 1)}`.trim() === ''
    return [isBare ? { from: node.start + 1, to: node.end - 1 } : { from: item.start, to }]
  }
  const from =
    before === undefined
      ? endOfContent(text, node.start + 1)
      : endOfContent(text, (before.comma ?? before.node.end) + 1)
  const start = Math.min(from, item.start)
  if (item.comma !== undefined) return [{ from: start, to: item.comma + 1 }]
  const comma = before?.comma
  return [
    ...(comma === undefined ? [] : [{ from: comma, to: comma + 1 }]),
    { from: start, to: item.node.end },
  ]
}

export function insertInto(text: string, insertions: readonly Insertion[]): string {
  let made = ''
  let at = 0
  for (const insertion of insertions) {
    made += text.slice(at, insertion.at) + insertion.text
    at = insertion.at
  }
  return made + text.slice(at)
}

export function cutFrom(text: string, cuts: readonly Cut[]): string {
  let made = ''
  let at = 0
  for (const { from, to } of [...cuts].sort((a, b) => a.from - b.from)) {
    if (from > at) made += text.slice(at, from)
    at = Math.max(at, to)
  }
  return made + text.slice(at)
}

type Placed = { readonly node: JsonNode; readonly start: number; readonly comma: number | undefined }

export function itemsOf(node: JsonNode): readonly Placed[] {
  if (node.kind === 'object') return node.members
  return node.kind === 'array' ? node.items : []
}

/** Past the comments that follow, and not past the space after the last of them. */
function endOfContent(text: string, from: number): number {
  let end = from
  for (let at = from; ;) {
    while (' \t\r\n'.includes(text[at] ?? 'x')) at += 1
    const comment = commentEnd(text, at)
    if (comment === undefined) return end
    // A comment to the line's end may have a return before its newline.
    end = text[comment - 1] === '\r' ? comment - 1 : comment
    at = comment
  }
}
