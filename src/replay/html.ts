/**
 * A session as one static page that can be opened anywhere and does nothing: no script, no link, nothing fetched, and every
 * word of the session a text node. The policy in its head holds even if an escape were ever missed.
 */
import { createHash } from 'node:crypto'
import { PRIMARY } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { sessionCost, sessionMillis, sessionTokens, toCount } from './amounts.ts'
import { createClock, toDuration, type Clock } from './clock.ts'
import { errorText, inputText, outputText, toText } from './content.ts'
import { runName } from './devflow-view.ts'
import { visible } from './escape.ts'
import { createTurnView, roleOf } from './turn-view.ts'
import type { ShownCall, ShownTurn } from './turns.ts'
import type { View, ViewOptions } from './view.ts'

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0;font:13px/1.45 ui-monospace,monospace}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dd{margin:0}dt{color:#666}
section{border-top:1px solid #ddd;padding:.6rem 0}h2{font-size:.9rem;margin:0}h2 small{color:#666;font-weight:400}
section.assistant h2{color:#0b5}section.user h2{color:#06c}section.event{opacity:.7}
details{border-left:3px solid #ccc;padding-left:.7rem;margin:.4rem 0}.error{color:#b00}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}section{border-color:#333}dt,h2 small{color:#999}}`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'`

const CLASSES: ReadonlySet<string> = new Set(['system', 'user', 'assistant', 'tool'])

export function createHtmlView(options: ViewOptions = {}): View {
  const clock = createClock(options.timeZone)
  const view = createTurnView(
    {
      begin: (session) => header(session, clock),
      turn: (turn) => section(turn, clock),
      summary: (turn, line) =>
        `<section class="${className(turn)}"><h2>${turnName(turn)}</h2>${escapeHtml(line)}</section>\n`,
      end: () => '</article>\n',
    },
    options,
  )
  return { ...view, page: { open: pageHead, close: () => '</main>\n</body>\n</html>\n' } }
}

function pageHead(session: Session): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width">
<title>${titleOf(session)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
`
}

function titleOf(session: Session): string {
  return escapeHtml(session.title ?? runName(session))
}

function header(session: Session, clock: Clock): string {
  const tokens = sessionTokens(session)
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Session', session.id],
    ['Agent', session.agent],
    ['Flow', session.run?.flow],
    ['Status', session.status],
    ['Started', clock.date(session.startedAt)],
    ['Duration', toDuration(sessionMillis(session))],
    ['Tokens', `${toCount(tokens.in)} in / ${toCount(tokens.out)} out`],
    ['Cost', sessionCost(session)],
    ['Error', session.error],
  ]
  const facts = rows
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value as string)}</dd>\n`)
    .join('')
  return `<article>
<h1>${titleOf(session)}</h1>
<dl>
${facts}</dl>
`
}

function section(turn: ShownTurn, clock: Clock): string {
  const time = escapeHtml(clock.time(turn.at))
  const model = turn.model === undefined ? '' : ` ${escapeHtml(turn.model)}`
  const blocks = turn.blocks.map((block) => pre(toText(block))).join('')
  return `<section class="${className(turn)}">
<h2>${turnName(turn)} <small>${time}${model}</small></h2>
${blocks}${turn.calls.map(toolCall).join('')}</section>
`
}

function toolCall({ call, result }: ShownCall): string {
  const failed = result && errorText(result)
  const error = failed === undefined ? '' : pre(failed, 'error')
  const output = result === undefined ? '<p>no output recorded</p>\n' : pre(outputText(result))
  return `<details open>
<summary>${escapeHtml(call.name)}</summary>
${pre(inputText(call, 2))}${output}${error}</details>
`
}

/** HTML drops a newline right after the tag: this one, and none of the text's own. */
function pre(text: string, kind?: 'error'): string {
  const attribute = kind === undefined ? '' : ` class="${kind}"`
  return text === '' ? '' : `<pre${attribute}>\n${escapeHtml(text)}</pre>\n`
}

function turnName(turn: ShownTurn): string {
  const number = turn.number === undefined ? '' : `${turn.number} `
  const from = turn.source === PRIMARY ? '' : ` ${turn.source}`
  return escapeHtml(`${number}${roleOf(turn)}${from}`)
}

/** Only words of ours reach an attribute. */
function className({ role }: ShownTurn): string {
  return role !== undefined && CLASSES.has(role) ? role : 'event'
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (mark) => ENTITIES[mark] as string)
}
