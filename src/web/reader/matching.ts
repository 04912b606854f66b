/** Find in an exported session: all words, in any case; `tool:"name"` for calls of a tool. Of the language of searches no more than that. */
import { contentText, outputText, type Block } from '../../transcript/block.ts'
import type { Entry } from '../../transcript/entry.ts'

export function matcher(query: string): (entry: Entry) => boolean {
  const [, tool] = /^tool:"([^"]*)"$/.exec(query.trim()) ?? []
  if (tool !== undefined)
    return ({ blocks }) => blocks.some((block) => block.type === 'tool-call' && block.name === tool)
  const phrases = [...query.slice(0, 1000).matchAll(/"([^"]+)"|(\S+)/g)].map(([, phrase, word]) =>
    (phrase ?? word ?? '').toLowerCase(),
  )
  return ({ blocks }) => {
    if (phrases.length === 0) return false
    const text = blocks.map(textIn).join('\n').toLowerCase()
    return phrases.every((phrase) => text.includes(phrase))
  }
}

function textIn(block: Block): string {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return contentText(block.text)
    case 'tool-call':
      return `${block.name} ${typeof block.input === 'string' ? block.input : JSON.stringify(block.input ?? '')}`
    case 'tool-result':
      return `${outputText(block)} ${block.error ?? ''}`
    case 'error':
      return block.message
    case 'unknown':
      return JSON.stringify(block.raw)
    case 'image':
      return ''
  }
}
