/**
 * weakincentives' `format_transcript`: a header line with time, source and role mark, the content, a blank line. A tool is
 * called by its name; a tool whose name nothing says is TOOL.
 */
import { PRIMARY, type Entry, type Role } from '../transcript/entry.ts'
import { createClock } from './clock.ts'
import { toText } from './content.ts'
import { visible, visibleLine } from './escape.ts'
import type { View } from './view.ts'

const MARKS: Readonly<Record<Role, string>> = { system: '⚙️', user: '👤', assistant: '🤖', tool: '🔧' }
const OTHER_MARK = '•'

/** How many calls' names are remembered for results that do not say theirs. */
const REMEMBERED_CALLS = 10_000

/** All entries as one text; empty for none. */
export function formatTranscript(
  entries: Iterable<Entry>,
  options: { readonly timeZone?: string } = {},
): string {
  const view = createTextView(options)
  let text = ''
  for (const entry of entries) text += view.entry(entry)
  return text
}

/** The same, entry by entry. */
export function createTextView({ timeZone }: { readonly timeZone?: string } = {}): View {
  const clock = createClock(timeZone)
  const names = new Map<string, string>()
  let first = true

  const remember = ({ source, blocks }: Entry): void => {
    for (const block of blocks) {
      if (block.type !== 'tool-call' || block.callId === undefined) continue
      names.set(`${source}\n${block.callId}`, block.name)
      if (names.size > REMEMBERED_CALLS) names.delete(names.keys().next().value as string)
    }
  }
  const toolName = ({ source, blocks }: Entry): string => {
    const found = new Set<string>()
    for (const block of blocks) {
      if (block.type !== 'tool-result') continue
      const name = block.name ?? names.get(`${source}\n${block.callId}`)
      if (name !== undefined && name !== '') found.add(name)
    }
    return found.size === 0 ? 'TOOL' : [...found].join(', ')
  }

  return {
    begin: () => '',
    entry(entry) {
      remember(entry)
      const prefix = entry.source === PRIMARY ? '' : `[${entry.source}] `
      const mark = entry.role === undefined ? OTHER_MARK : MARKS[entry.role]
      const who = entry.role === 'tool' ? toolName(entry) : label(entry)
      const header = visibleLine(`${prefix}[${clock.time(entry.at)}] ${mark} ${who}`)
      const content = visible(entry.blocks.map(toText).join('\n'))
      const gap = first ? '' : '\n'
      first = false
      return `${gap}${header}\n${content}\n`
    },
    end: () => '',
  }
}

/** The role; for an event, what kind of record it was. */
function label({ role, metadata }: Entry): string {
  const record = metadata?.['record']
  return (role ?? (typeof record === 'string' && record !== '' ? record : 'event')).toUpperCase()
}
