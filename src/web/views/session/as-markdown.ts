/** An entry as Markdown, to be pasted somewhere else. */
import type { EntryRow } from '../../../server/api.ts'
import { contentText, outputText, type Block } from '../../../transcript/block.ts'
import type { Pages } from './pages.ts'
import { toolLine } from './tool-line.ts'

const NAMES = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' } as const

export function entryMarkdown({ entry, citation }: EntryRow, pages: Pick<Pages, 'resultOf'>): string {
  const head = `### ${entry.role === undefined ? 'Event' : NAMES[entry.role]}${entry.at === undefined ? '' : ` · ${entry.at}`}`
  const parts = entry.blocks.map((block) => blockMarkdown(block, entry.source, pages))
  return `${[head, ...parts.filter((part) => part !== '')].join('\n\n')}\n\n<!-- ${citation.replaceAll('--', '')} -->\n`
}

function blockMarkdown(block: Block, source: string, pages: Pick<Pages, 'resultOf'>): string {
  switch (block.type) {
    case 'text':
      return contentText(block.text)
    case 'thinking':
      return contentText(block.text)
        .split('\n')
        .map((line) => `> ${line}`)
        .join('\n')
    case 'tool-call': {
      const { name, says } = toolLine(block.name, block.input)
      const result = block.callId === undefined ? undefined : pages.resultOf(source, block.callId)?.block
      const input =
        typeof block.input === 'string' ? block.input : JSON.stringify(block.input ?? null, null, 2)
      return [
        `**${name}** ${says}`.trim(),
        fenced(input, typeof block.input === 'string' ? '' : 'json'),
        ...(result === undefined ? [] : [fenced(outputText(result), '')]),
      ].join('\n\n')
    }
    case 'tool-result':
      return fenced(outputText(block), '')
    case 'image':
      return `[image ${block.mediaType ?? ''}]`
    case 'error':
      return `**Error** ${block.message}`
    case 'unknown':
      return fenced(JSON.stringify(block.raw, null, 2), 'json')
  }
}

/** With more backticks than the text has in a row. */
export function fenced(text: string, lang: string): string {
  let most = 2
  for (const [ticks] of text.matchAll(/`+/g)) most = Math.max(most, ticks.length)
  const fence = '`'.repeat(most + 1)
  return `${fence}${lang}\n${text}\n${fence}`
}
