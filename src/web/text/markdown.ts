/**
 * Markdown as a tree to be drawn with text nodes. Nothing is lost: a block in which a word of the source would not be seen stays as it
 * was written. HTML is text, links lead only to http, https and mailto, pictures are never fetched. Time is bounded: what nests too
 * deep, or has more marks than prose has, is shown as it was written.
 */
import { Lexer, type Token, type Tokens } from 'marked'

export type MdNode =
  | { readonly type: 'text' | 'codespan' | 'plain'; readonly text: string }
  | { readonly type: 'code'; readonly text: string; readonly lang?: string }
  | { readonly type: 'link'; readonly href?: string; readonly target: string; readonly children: MdNodes }
  | { readonly type: 'image'; readonly alt: string; readonly target: string; readonly data?: string }
  | { readonly type: 'paragraph' | 'quote' | 'strong' | 'em' | 'del'; readonly children: MdNodes }
  | { readonly type: 'heading'; readonly depth: number; readonly children: MdNodes }
  | { readonly type: 'list'; readonly isOrdered: boolean; readonly items: readonly MdItem[] }
  | {
      readonly type: 'table'
      readonly header: readonly MdNodes[]
      readonly rows: readonly (readonly MdNodes[])[]
    }
  | { readonly type: 'hr' | 'br' }
export type MdNodes = readonly MdNode[]
export type MdItem = { readonly value?: number; readonly checked?: boolean; readonly children: MdNodes }

/** Characters that are made into Markdown at once; the rest is asked for. */
export const MARKDOWN_PART = 12_000
const DEEPEST = 16
const MOST_MARKS = 300

export function toMarkdown(source: string): MdNodes {
  const text = source.replaceAll(/\r\n?/g, '\n')
  if (text.length > MARKDOWN_PART * 2 || nestsTooDeep(text)) return [{ type: 'plain', text }]
  const lexer = new Lexer({ gfm: true, breaks: true })
  try {
    lexer.blockTokens(text, lexer.tokens)
    for (const { src, tokens } of lexer.inlineQueue) {
      // Marks are looked for in what follows each of them: many take the square of their number.
      if (countMarks(src) > MOST_MARKS) tokens.push({ type: 'text', raw: src, text: src })
      else lexer.inlineTokens(src, tokens)
    }
  } catch {
    // Deeper than the stack.
    return [{ type: 'plain', text }]
  }
  return lexer.tokens.flatMap((token) => {
    const nodes = toNodes([token], DEEPEST)
    return wordsOf(token.raw) === wordsOf(said(nodes)) ? nodes : [{ type: 'plain' as const, text: token.raw }]
  })
}

/** Where a long text may be cut so that both parts are Markdown: between paragraphs, outside of code, else between lines. */
export function cutMarkdown(text: string, most = MARKDOWN_PART): number {
  if (text.length <= most) return text.length
  let [at, isCode, blank, line] = [0, false, 0, 0]
  for (;;) {
    const end = text.indexOf('\n', at)
    if (end === -1 || end >= most) break
    const isFence = /^ {0,3}(?:```|~~~)/.test(text.slice(at, at + 6))
    if (isFence) isCode = !isCode
    line = end + 1
    if (end === at && !isCode) blank = line
    at = line
  }
  const cut = blank > most / 2 ? blank : line > most / 2 ? line : most
  // Not in the middle of a character of two halves.
  return /[\ud800-\udbff]/.test(text[cut - 1] ?? '') ? cut - 1 : cut
}

/** Only these are ever links; undefined for every other address. */
export function safeHref(target: string): string | undefined {
  if (!/^(?:https?:\/\/|mailto:)[^\s\p{C}]+$/iu.test(target)) return undefined
  try {
    const { protocol, href } = new URL(target)
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined
  } catch {
    return undefined
  }
}

function nestsTooDeep(text: string): boolean {
  for (const [prefix] of text.matchAll(/^[ \t>*+\-\d.)]{16,}/gm)) {
    let depth = 0
    for (const _ of prefix.slice(0, 2000).matchAll(/>|[-*+][ \t]|\d[.)]/g))
      if ((depth += 1) > DEEPEST) return true
  }
  return false
}

function countMarks(src: string): number {
  let count = 0
  for (let at = 0; at < src.length && count <= MOST_MARKS; at += 1)
    if ('*_~[]<`@'.includes(src.charAt(at))) count += 1
  // Addresses without a mark before them: every dot is a place where one could begin.
  return src.length > 4000 && !/\s/.test(src.slice(0, 4000)) ? MOST_MARKS + 1 : count
}

function toNodes(tokens: readonly Token[], depth: number): MdNode[] {
  return tokens.flatMap((token) => toNode(token, depth))
}

function toNode(token: Token, depth: number): MdNode[] {
  const inside = (): MdNode[] =>
    depth === 0
      ? [{ type: 'text', text: token.raw }]
      : toNodes(('tokens' in token && token.tokens) || [], depth - 1)
  switch (token.type) {
    case 'space':
      return []
    case 'hr':
    case 'br':
      return [{ type: token.type }]
    case 'paragraph':
    case 'strong':
    case 'em':
    case 'del':
      return [{ type: token.type, children: inside() }]
    case 'blockquote':
      return [{ type: 'quote', children: inside() }]
    case 'heading':
      return [{ type: 'heading', depth: Number(token['depth']), children: inside() }]
    case 'code':
      return [toCode(token as Tokens.Code)]
    case 'codespan':
      return [{ type: 'codespan', text: String(token['text']) }]
    case 'list':
      return [toList(token as Tokens.List, depth)]
    case 'table':
      return [toTable(token as Tokens.Table, depth)]
    case 'link':
      return [toLink(token as Tokens.Link, inside())]
    case 'image':
      return [toImage(token as Tokens.Image)]
    case 'escape':
      return [{ type: 'text', text: String(token['text']) }]
    case 'text':
      return 'tokens' in token && token.tokens !== undefined && token.tokens.length > 0
        ? inside()
        : [{ type: 'text', text: String(token['text']) }]
    default:
      // HTML, definitions of links, and what later versions have: as it was written.
      return [{ type: 'text', text: token.raw }]
  }
}

function toCode({ text, lang }: Tokens.Code): MdNode {
  return { type: 'code', text, ...(lang !== undefined && lang !== '' && { lang }) }
}

function toList({ ordered, items }: Tokens.List, depth: number): MdNode {
  return {
    type: 'list',
    isOrdered: ordered,
    items: items.map((item) => {
      const [, digits] = /^\s*(\d{1,9})[.)]/.exec(item.raw) ?? []
      return {
        ...(ordered && digits !== undefined && { value: Number(digits) }),
        ...(item.task && { checked: item.checked === true }),
        children:
          depth === 0
            ? [{ type: 'text', text: item.text }]
            : toNodes(
                item.tokens.filter(({ type }) => type !== 'checkbox'),
                depth - 1,
              ),
      }
    }),
  }
}

function toTable({ header, rows }: Tokens.Table, depth: number): MdNode {
  const cell = ({ tokens }: Tokens.TableCell): MdNodes => toNodes(tokens, depth - 1)
  return { type: 'table', header: header.map(cell), rows: rows.map((row) => row.map(cell)) }
}

function toLink({ href: target }: Tokens.Link, children: MdNodes): MdNode {
  const href = safeHref(target)
  return { type: 'link', target, children, ...(href !== undefined && { href }) }
}

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-z0-9+/=]+$/i

function toImage({ href, text }: Tokens.Image): MdNode {
  return { type: 'image', alt: text, target: href, ...(PICTURE.test(href) && { data: href }) }
}

/** All that is seen, in the order of the source. */
export function said(nodes: MdNodes): string {
  return nodes.map(saidOf).join(' ')
}

function saidOf(node: MdNode): string {
  switch (node.type) {
    case 'text':
    case 'plain':
    case 'codespan':
      return node.text
    case 'code':
      return `${node.lang ?? ''} ${node.text}`
    case 'link': {
      const text = said(node.children)
      return node.target === text || node.target === `mailto:${text}` || node.target === `http://${text}`
        ? text
        : `${text} ${node.target}`
    }
    case 'image':
      return `${node.alt} ${node.target}`
    case 'list':
      return node.items
        .map(({ value = '', checked, children }) => `${value} ${checked ? 'x' : ''} ${said(children)}`)
        .join(' ')
    case 'table':
      return [node.header, ...node.rows].map((row) => row.map(said).join(' ')).join(' ')
    case 'hr':
    case 'br':
      return ''
    case 'paragraph':
    case 'quote':
    case 'strong':
    case 'em':
    case 'del':
    case 'heading':
      return said(node.children)
  }
}

/** Letters and digits alone: what marks are made of may go. */
const wordsOf = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '')
