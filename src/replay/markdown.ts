/**
 * A session as Markdown. What the session says never becomes part of the page's own structure: values are escaped, tools'
 * input and output stand in fences longer than any inside them, prose that could pass for structure or load something
 * remote is fenced as well, and links lead to the web, to mail or to paths.
 */
import type { Block } from '../transcript/block.ts'
import { PRIMARY } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { markedTokens, sessionCost, sessionMillis } from './amounts.ts'
import { createClock, toDuration, type Clock } from './clock.ts'
import { errorText, inputText, outputText, toText } from './content.ts'
import { runName } from './devflow-view.ts'
import { visible, visibleLine } from './escape.ts'
import { createTurnView, roleOf } from './turn-view.ts'
import type { ShownCall, ShownTurn } from './turns.ts'
import type { View, ViewOptions } from './view.ts'

export function createMarkdownView(options: ViewOptions = {}): View {
  const clock = createClock(options.timeZone)
  return createTurnView(
    {
      begin: (session) => header(session, clock),
      turn: (turn) => section(turn, clock),
      summary: (turn, line) =>
        `- **${escapeInline(roleOf(turn))}** (Turn ${turn.number}): ${escapeInline(line)}\n`,
      end: () => '',
    },
    options,
  )
}

function header(session: Session, clock: Clock): string {
  const tokens = markedTokens(session)
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Session', session.id],
    ['Flow', session.run?.flow],
    ['Status', session.status],
    ['Started', clock.date(session.startedAt)],
    ['Ended', clock.date(session.endedAt)],
    ['Duration', toDuration(sessionMillis(session))],
    ['Tokens In', tokens.in],
    ['Tokens Out', tokens.out],
    ['Cost', sessionCost(session)],
    ['Error', session.error],
  ]
  const table = rows
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `| ${name} | ${escapeInline(value as string)} |\n`)
    .join('')
  return `# ${escapeInline(session.title ?? runName(session))}\n\n| | |\n|---|---|\n${table}\n`
}

function section(turn: ShownTurn, clock: Clock): string {
  const role = roleOf(turn)
  const title = `${role.charAt(0).toUpperCase()}${role.slice(1)}`
  const number = turn.number === undefined ? '' : ` (Turn ${turn.number})`
  const from = turn.source === PRIMARY ? '' : `, ${turn.source}`
  const blocks = turn.blocks.map((block) => `${blockText(block)}\n`).join('')
  const when = `*${clock.time(turn.at)}${escapeInline(from)}*`
  return `### ${escapeInline(title)}${number}\n\n${when}\n\n${blocks}${turn.calls.map(toolCall).join('')}`
}

function toolCall({ call, result }: ShownCall): string {
  const parts = [
    `#### Tool Call: ${codeSpan(call.name)}\n`,
    `Input:\n\n${fence(visible(inputText(call, 2)), 'json')}`,
  ]
  if (result === undefined) return `${[...parts, 'Output: none recorded\n'].join('\n')}\n`
  parts.push(`Output:\n\n${fence(visible(outputText(result)))}`)
  const error = errorText(result)
  if (error !== undefined) parts.push(`Error:\n\n${fence(visible(error))}`)
  return `${parts.join('\n')}\n`
}

function blockText(block: Block): string {
  const text = visible(toText(block))
  return block.type === 'unknown' ? fence(text, 'json') : prose(text)
}

/** Lines that begin a heading, fence, table, quote or definition; HTML; images; code. */
const STRUCTURE = /^ {0,3}(?:#|```|~~~|\||>|\[[^\]\n]*\]:)|<|!\[|^\t|^ {4}/m
/** Lines of nothing but marks: a rule, the underline that makes a heading of the line before, a table's second row. */
const MARKS = /^[ \t]*[-=:|*_+][-=:|*_+ \t]*$/m

/** Prose as it was written, where Markdown can only make paragraphs and lists of it; else in a fence. */
function prose(text: string): string {
  if (text.trim() === '') return ''
  if (STRUCTURE.test(text) || MARKS.test(text)) return fence(text)
  return `${text.trimEnd().replace(FOREIGN_LINK, String.raw`]\(`)}\n`
}

/**
 * The beginning of a link's address that is neither of the web, nor mail, nor a path below: `javascript:`, `ms-msdt:`, `//host`, and
 * what escapes or entities may spell so. Escaped, the link is text.
 */
const FOREIGN_LINK = /\]\((?!\s*(?!\s)(?:(?:https?:\/\/|mailto:)|(?!\/[/\\&])[^\s:&\\()[\]]*[/?#)\s]))/gi

/** A code fence that nothing inside can close. */
function fence(text: string, language = ''): string {
  const marks = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${marks}${language}\n${text}${text.endsWith('\n') || text === '' ? '' : '\n'}${marks}\n`
}

function codeSpan(text: string): string {
  const marks = '`'.repeat(longestRun(text) + 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${marks}${pad}${visibleLine(text)}${pad}${marks}`
}

function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}

/** One line in which every character that Markdown or HTML could act on is plain. */
function escapeInline(text: string): string {
  return visibleLine(text).replace(/[\\`*_[\]<>&|#!~]/g, (mark) => `\\${mark}`)
}
