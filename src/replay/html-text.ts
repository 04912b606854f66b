/** Foreign text as HTML that is only text: no tag, attribute or address of it is ever more than its characters. */
import { visible } from './escape.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (mark) => ENTITIES[mark] as string)
}

/** HTML drops a newline right after the tag: this one, and none of the text's own. */
export function pre(text: string, kind?: 'error'): string {
  const attribute = kind === undefined ? '' : ` class="${kind}"`
  return text === '' ? '' : `<pre${attribute}>\n${escapeHtml(text)}</pre>\n`
}

/** What a program printed for a terminal: its colours as classes of ours, what moves the cursor left out, all else shown. */
export function terminal(text: string): string {
  if (text === '') return ''
  return `<pre>\n${text.includes(ESCAPE) ? coloured(text) : escapeHtml(text)}</pre>\n`
}

const ESCAPE = '\x1b'
// A sequence that sets colours, or one that moves the cursor or clears: digits and a letter, nothing that says anything.
const SEQUENCE = new RegExp(`${ESCAPE}\\[([0-9;]{0,60})([A-HJKSTfhlmnsu])`, 'g')

function coloured(text: string): string {
  let html = ''
  let at = 0
  let style: Style = {}
  for (const match of text.matchAll(SEQUENCE)) {
    html += span(text.slice(at, match.index), style)
    at = match.index + match[0].length
    if (match[2] === 'm') style = restyle(style, match[1] ?? '')
  }
  return html + span(text.slice(at), style)
}

type Style = { readonly front?: number; readonly back?: number; readonly bold?: true; readonly dim?: true }

function span(text: string, { front, back, bold, dim }: Style): string {
  if (text === '') return ''
  const classes = [
    front === undefined ? '' : `f${front}`,
    back === undefined ? '' : `b${back}`,
    bold ? 'bold' : '',
    dim ? 'dim' : '',
  ].filter((name) => name !== '')
  const html = escapeHtml(text)
  return classes.length === 0 ? html : `<span class="${classes.join(' ')}">${html}</span>`
}

function restyle(before: Style, codes: string): Style {
  let style = before
  const all = codes === '' ? [0] : codes.split(';').map(Number)
  for (let at = 0; at < all.length; at += 1) {
    const code = all[at] ?? 0
    if (code === 38 || code === 48) {
      // Of 256 colours those that have names; of millions none.
      const named = all[at + 1] === 5 ? all[at + 2] : undefined
      at += all[at + 1] === 5 ? 2 : 4
      if (named !== undefined && named < 16) style = { ...style, [code === 38 ? 'front' : 'back']: named }
    } else style = withCode(style, code)
  }
  return style
}

function withCode(style: Style, code: number): Style {
  const { front, back, bold, dim, ...none } = style
  const colours = { ...(front !== undefined && { front }), ...(back !== undefined && { back }) }
  const weight = { ...(bold && { bold }), ...(dim && { dim }) }
  if (code === 0) return none
  if (code === 1) return { ...style, bold: true }
  if (code === 2) return { ...style, dim: true }
  if (code === 22) return colours
  if (code === 39) return { ...weight, ...(back !== undefined && { back }) }
  if (code === 49) return { ...weight, ...(front !== undefined && { front }) }
  if (code >= 30 && code <= 37) return { ...style, front: code - 30 }
  if (code >= 40 && code <= 47) return { ...style, back: code - 40 }
  if (code >= 90 && code <= 97) return { ...style, front: code - 82 }
  if (code >= 100 && code <= 107) return { ...style, back: code - 92 }
  return style
}
