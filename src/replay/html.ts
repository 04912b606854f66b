/**
 * A session as one static page that can be opened anywhere and does nothing: no script, no link, nothing fetched, and every
 * word of the session a text node. The policy in its head holds even if an escape were ever missed.
 */
import { createHash } from 'node:crypto'
import { contentText, type Block, type ImageBlock } from '../transcript/block.ts'
import { PRIMARY } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { hasCounts } from '../transcript/usage.ts'
import { markedTokens, sessionCost, sessionMillis, turnTokens } from './amounts.ts'
import { createClock, toDuration, type Clock } from './clock.ts'
import { toText } from './content.ts'
import { runName } from './devflow-view.ts'
import { toolCall } from './html-call.ts'
import { markdown } from './html-markdown.ts'
import { escapeHtml, pre, terminal } from './html-text.ts'
import { createTurnView, roleOf } from './turn-view.ts'
import type { ShownTurn } from './turns.ts'
import type { View, ViewOptions } from './view.ts'

const STYLE = `:root{color-scheme:light dark;--text:#1c1c1c;--ground:#fff;--quiet:#5c5c5c;--line:#ddd;--code:#f4f4f2;--user:#0550ae;--agent:#116329;--bad:#a40e26;--in:#dafbe1;--out:#ffebe9}
@media(prefers-color-scheme:dark){:root{--text:#ddd;--ground:#161616;--quiet:#9a9a9a;--line:#333;--code:#202020;--user:#79b8ff;--agent:#7ee787;--bad:#ff9492;--in:#12341d;--out:#3d1418}}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:var(--text);background:var(--ground)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0;font:13px/1.45 ui-monospace,monospace}
.code,.diff,code{background:var(--code);border-radius:4px}.code,.diff{padding:.5rem .7rem}code{padding:0 .25em;font:13px ui-monospace,monospace;overflow-wrap:anywhere}
p{margin:.4rem 0;white-space:pre-line;overflow-wrap:anywhere}h3{font-size:1rem;margin:.8rem 0 .3rem}blockquote{white-space:pre-line;border-left:3px solid var(--line);margin:.4rem 0;padding-left:.7rem;color:var(--quiet)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dd{margin:0;overflow-wrap:anywhere}dt,small{color:var(--quiet);font-weight:400}
section{border-top:1px solid var(--line);padding:.6rem 0}h2{font-size:.9rem;margin:0}
section.assistant h2{color:var(--agent)}section.user h2{color:var(--user)}section.event{opacity:.75}section.sub{margin-left:1.5rem}
details{border-left:3px solid var(--line);padding-left:.7rem;margin:.4rem 0}summary{cursor:pointer;overflow-wrap:anywhere}.error,.damage{color:var(--bad)}img{max-width:100%}
ins,del{text-decoration:none;display:inline-block;min-width:100%}ins{background:var(--in)}del{background:var(--out)}.bold{font-weight:700}.dim{opacity:.7}
.f0,.f8{color:#6e7781}.f1,.f9{color:#cf222e}.f2,.f10{color:#1a7f37}.f3,.f11{color:#9a6700}.f4,.f12{color:#218bff}.f5,.f13{color:#a475f9}.f6,.f14{color:#1b7c83}
.b1,.b9{background:var(--out)}.b2,.b10{background:var(--in)}.b0,.b3,.b4,.b5,.b6,.b7,.b8,.b11,.b12,.b13,.b14,.b15{background:var(--code)}`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'`

const CLASSES: ReadonlySet<string> = new Set(['system', 'user', 'assistant', 'tool'])

export function createHtmlView(options: ViewOptions = {}): View {
  const clock = createClock(options.timeZone)
  let shown: Session | undefined
  const view = createTurnView(
    {
      begin(session) {
        shown = session
        return header(session, clock)
      },
      turn: (turn) => section(turn, shown, clock),
      summary: (turn, line) =>
        `<section class="${className(turn)}"><h2>${turnName(turn)}</h2>${escapeHtml(line)}</section>\n`,
      end: () => '</article>\n',
    },
    options,
  )
  return {
    ...view,
    damage: ({ kind, file, line, reason }) =>
      `<section class="event"><p class="damage">damaged (${escapeHtml(kind)}): ${escapeHtml(reason)} <small>${escapeHtml(file)}${line === undefined ? '' : `, line ${line}`}</small></p></section>\n`,
    page: { open: pageHead, close: () => '</main>\n</body>\n</html>\n' },
  }
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
  const tokens = markedTokens(session)
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Session', session.id],
    ['Agent', session.agent],
    ['Flow', session.run?.flow],
    ['Status', session.status],
    ['Started', clock.date(session.startedAt)],
    ['Duration', toDuration(sessionMillis(session))],
    ['Tokens', `${tokens.in} in / ${tokens.out} out`],
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

function section(turn: ShownTurn, session: Session | undefined, clock: Clock): string {
  const time = escapeHtml(clock.time(turn.at))
  const model = turn.model === undefined ? '' : ` ${escapeHtml(turn.model)}`
  const blocks = turn.blocks.map((block) => drawBlock(block, turn)).join('')
  return `<section class="${className(turn)}">
<h2>${turnName(turn)} <small>${time}${model}${used(turn, session)}</small></h2>
${blocks}${turn.calls.map(toolCall).join('')}</section>
`
}

function drawBlock(block: Block, { role }: ShownTurn): string {
  switch (block.type) {
    case 'text':
      return role === 'tool' || typeof block.text !== 'string' ? pre(toText(block)) : prose(block.text)
    case 'thinking':
      return `<details>\n<summary>thinking</summary>\n${pre(contentText(block.text) || 'not shown by the provider')}</details>\n`
    case 'error':
      return pre(toText(block), 'error')
    case 'tool-result':
      return terminal(toText(block))
    case 'image':
      return picture(block) ?? pre(toText(block))
    case 'tool-call':
      return toolCall({ call: block })
    case 'unknown':
      return pre(toText(block))
  }
}

/** A newline that text begins with is its writer's. */
function prose(text: string): string {
  return text.startsWith('\n') ? pre(text) : markdown(text)
}

const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Only what is at hand, of a kind in which nothing runs, and in letters of base64 alone. */
function picture({ data, mediaType }: ImageBlock): string | undefined {
  if (typeof data !== 'string' || mediaType === undefined || !PICTURES.has(mediaType)) return undefined
  if (data === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined
  return `<img alt="a picture" src="data:${mediaType};base64,${data}">\n`
}

function used({ usage }: ShownTurn, session: Session | undefined): string {
  if (usage === undefined || !hasCounts(usage)) return ''
  const { in: input = 'unknown', out = 'unknown' } = turnTokens(session, usage)
  return ` · ${input} in / ${out} out`
}

function turnName(turn: ShownTurn): string {
  const number = turn.number === undefined ? '' : `${turn.number} `
  const from = turn.source === PRIMARY ? '' : ` ${turn.source}`
  return escapeHtml(`${number}${roleOf(turn)}${from}`)
}

/** Only words of ours reach an attribute. */
function className({ role, source }: ShownTurn): string {
  const own = role !== undefined && CLASSES.has(role) ? role : 'event'
  return source === PRIMARY ? own : `${own} sub`
}
