/**
 * The texts of an entry that are searched: text, thinking, tool names, inputs and outputs, errors, and what was not understood. Not
 * pictures, signatures or ids. In this order they are indexed and matched.
 */
import type { Block, Content } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import type { Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'

/** The session's title is found at its first entry, so that what is found has a place to open. */
export function textsOf(entry: Entry, session?: Pick<Session, 'title'>): string[] {
  const texts: string[] = []
  if (session?.title !== undefined && entry.source === PRIMARY && entry.sequence === 0)
    texts.push(session.title)
  for (const block of entry.blocks) addBlock(texts, block)
  return texts
}

/** Every string and number in a JSON value, in order, whatever its depth. Keys are not texts. */
export function textsOfJson(value: Json): string[] {
  const texts: string[] = []
  addJson(texts, value)
  return texts
}

function addBlock(texts: string[], block: Block): void {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return addContent(texts, block.text)
    case 'tool-call':
      texts.push(block.name)
      if (block.input !== undefined) addJson(texts, block.input)
      return
    case 'tool-result':
      if (block.name !== undefined) texts.push(block.name)
      if (Array.isArray(block.output)) for (const part of block.output) addBlock(texts, part)
      else if (block.output !== undefined) addContent(texts, block.output)
      if (block.error !== undefined) texts.push(block.error)
      return
    case 'image':
      if (block.url !== undefined && !block.url.startsWith('data:')) texts.push(block.url)
      return
    case 'error':
      texts.push(block.message)
      if (block.code !== undefined) texts.push(block.code)
      return
    case 'unknown':
      addJson(texts, block.raw)
  }
}

/** What is kept elsewhere is searched when whoever asks has put it in its place. */
function addContent(texts: string[], content: Content | readonly Block[]): void {
  if (typeof content === 'string') texts.push(content)
}

function addJson(texts: string[], value: Json): void {
  // By a stack of our own: hostile values are deeper than the machine's.
  const stack: Json[] = [value]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') texts.push(next)
    else if (typeof next === 'number') texts.push(String(next))
    else if (typeof next === 'object' && next !== null) {
      const inner: readonly Json[] = Array.isArray(next) ? next : Object.values(next)
      for (let at = inner.length - 1; at >= 0; at -= 1) stack.push(inner[at] ?? null)
    }
  }
}
