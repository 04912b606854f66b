/**
 * Prose that was meant as Markdown, drawn as such: paragraphs, headings, lists, quotes, code. Every character of it is escaped; links are
 * shown with where they lead and lead nowhere, pictures are named. In linear time, whatever is in it.
 */
import { escapeHtml, pre } from './html-text.ts'

/** Text that is longer is shown as it is: nobody wrote it for reading. */
const LONGEST = 200_000

export function markdown(text: string): string {
  if (text.trim() === '') return ''
  if (text.length > LONGEST) return pre(text)
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  let html = ''
  let at = 0
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const kind = kindOf(line)
    if (kind === 'empty') {
      at += 1
    } else if (kind === 'fence') {
      const [mark = '```'] = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.slice(1) ?? []
      let end = at + 1
      while (end < lines.length && !isEnd(lines[end] ?? '', mark)) end += 1
      html += `<pre class="code">\n${escapeHtml(lines.slice(at + 1, end).join('\n'))}</pre>\n`
      at = end + 1
    } else if (kind === 'heading') {
      html += `<h3>${inline(line.replace(/^ {0,3}#{1,6}\s+/, ''))}</h3>\n`
      at += 1
    } else {
      let end = at + 1
      while (end < lines.length && kindOf(lines[end] ?? '') === kind) end += 1
      html += block(kind, lines.slice(at, end))
      at = end
    }
  }
  return html
}

type Kind = 'empty' | 'fence' | 'heading' | 'item' | 'quote' | 'table' | 'prose'

function kindOf(line: string): Kind {
  if (line.trim() === '') return 'empty'
  if (/^ {0,3}(?:`{3,}|~{3,})/.test(line)) return 'fence'
  if (/^ {0,3}#{1,6}\s/.test(line)) return 'heading'
  if (/^\s{0,20}(?:[-*+]|\d{1,9}[.)])\s/.test(line)) return 'item'
  if (/^ {0,3}>/.test(line)) return 'quote'
  if (/^ {0,3}\|/.test(line)) return 'table'
  return 'prose'
}

function isEnd(line: string, mark: string): boolean {
  const text = line.trim()
  return text.startsWith(mark) && text === mark.charAt(0).repeat(text.length)
}

function block(kind: Kind, lines: readonly string[]): string {
  if (kind === 'item')
    return `<ul>\n${lines.map((line) => `<li>${inline(line.replace(/^\s{0,20}[-*+]\s/, '').trimStart())}</li>\n`).join('')}</ul>\n`
  if (kind === 'quote')
    return `<blockquote>${lines.map((line) => inline(line.replace(/^ {0,3}>\s?/, ''))).join('\n')}</blockquote>\n`
  if (kind === 'table') return pre(lines.join('\n'))
  return `<p>${lines.map(inline).join('\n')}</p>\n`
}

// Code, a link or picture, strong, emphasis: each bounded, so that no text makes this slow.
const INLINE =
  /`([^`\n]{1,2000})`|(!?)\[([^[\]\n]{0,500})\]\(([^()\s]{1,2000})\)|\*\*([^*\n]{1,2000})\*\*|(?<![*\w])\*([^*\s][^*\n]{0,500})\*(?!\w)/g

function inline(line: string): string {
  let html = ''
  let at = 0
  for (const match of line.matchAll(INLINE)) {
    const [all, code, picture, name, target, strong, emphasis] = match
    html += escapeHtml(line.slice(at, match.index))
    at = match.index + all.length
    if (code !== undefined) html += `<code>${escapeHtml(code)}</code>`
    else if (target !== undefined) {
      const what = picture === '!' ? 'picture ' : ''
      html += `${escapeHtml(name ?? '')} <small>[${what}${escapeHtml(target)}]</small>`
    } else if (strong !== undefined) html += `<strong>${escapeHtml(strong)}</strong>`
    else html += `<em>${escapeHtml(emphasis ?? '')}</em>`
  }
  return html + escapeHtml(line.slice(at))
}
