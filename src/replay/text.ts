/**
 * Sessions as plain text, after weakincentives' `format_transcript`: a header line with time, source and role mark, the content, a
 * blank line. Lines of weakincentives are printed as it prints them. Other calls are shown with their tool's name, and results
 * whose tool nobody names as TOOL.
 */
import { PRIMARY, type Entry, type Role } from '../transcript/entry.ts'
import { parseInstant } from '../transcript/instant.ts'
import { createClock, type Clock } from './clock.ts'
import { toText } from './content.ts'
import { visible, visibleLine } from './escape.ts'
import type { View } from './view.ts'

/** What `format_transcript` prints of a `TranscriptEntry`. */
export type TextLine = {
  readonly role: string
  readonly content: string
  readonly created_at: string
  readonly tool_name: string | null
  readonly source: string
}

export type TextView = View & { line(line: TextLine): string }

export type TextOptions = {
  /** An IANA name, `UTC`. The system's zone when absent; a line of weakincentives has a zone of its own. */
  readonly timeZone?: string
  /** The line of weakincentives that an entry was read from; undefined for all other entries. */
  readonly lineOf?: (entry: Entry) => TextLine | undefined
}

const MARKS: ReadonlyMap<string, string> = new Map<Role, string>([
  ['system', '⚙️'],
  ['user', '👤'],
  ['assistant', '🤖'],
  ['tool', '🔧'],
])
const OTHER_MARK = '•'

/** How many calls' names are remembered for results that do not say theirs. */
const REMEMBERED_CALLS = 10_000

export function createTextView({ timeZone, lineOf }: TextOptions = {}): TextView {
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
  const print = (head: Head, content: string): string => {
    const { source, time, role = '', who } = head
    const prefix = source === PRIMARY ? '' : `[${source}] `
    const header = visibleLine(`${prefix}[${time}] ${MARKS.get(role) ?? OTHER_MARK} ${who}`)
    const gap = first ? '' : '\n'
    first = false
    return `${gap}${header}\n${visible(content)}\n`
  }
  const line = ({ role, content, created_at, tool_name, source }: TextLine): string => {
    // A tool that is not named is `None` to Python.
    const who = role === 'tool' ? (tool_name ?? 'None') : role.toUpperCase()
    const time = timeZone === undefined ? timeIn(created_at) : clock.time(parseInstant(created_at))
    return print({ source, time, role, who }, content)
  }
  return {
    begin: () => '',
    line,
    entry(entry) {
      const read = lineOf?.(entry)
      if (read !== undefined) return line(read)
      remember(entry)
      const { source, role, at, blocks } = entry
      const who = role === 'tool' ? toolName(entry) : label(entry)
      return print({ source, role, who, time: clock.time(at) }, blocks.map(toText).join('\n'))
    },
    end: () => '',
  }
}

type Head = {
  readonly source: string
  readonly time: ReturnType<Clock['time']>
  readonly role: string | undefined
  readonly who: string
}

/** The time of day in the text's own zone, as Python's `strftime` gives it. */
function timeIn(text: string): string {
  const [, minutes, seconds = ':00'] = /^\d{4}-\d{2}-\d{2}[T ](\d{2}:\d{2})(:\d{2})?/.exec(text) ?? []
  return minutes === undefined ? '--:--:--' : `${minutes}${seconds}`
}

/** The role; for an event, what kind of record it was. */
function label({ role, metadata }: Entry): string {
  const record = metadata?.['record']
  return (role ?? (typeof record === 'string' && record !== '' ? record : 'event')).toUpperCase()
}
