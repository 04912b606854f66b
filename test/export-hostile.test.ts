import { describe, expect, it } from 'vitest'
import { markdown } from '../src/replay/html-markdown.ts'
import { terminal } from '../src/replay/html-text.ts'
import { exportSession } from '../src/server/export.ts'
import type { ReadItem } from '../src/formats/format.ts'
import type { Block } from '../src/transcript/block.ts'
import type { Entry } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'

const TAGS = [
  'script',
  'img',
  'svg',
  'iframe',
  'object',
  'embed',
  'style',
  'link',
  'base',
  'form',
  'meta',
  'video',
  'math',
]
const EVENTS = [
  'onerror',
  'onload',
  'onclick',
  'onfocus',
  'onmouseover',
  'ontoggle',
  'onanimationstart',
  'onbegin',
]
const CLOSERS = [
  '',
  '"',
  "'",
  '">',
  "'>",
  '</pre>',
  '</style>',
  '</details>',
  '-->',
  ']]>',
  '`',
  '```\n',
  '</title>',
]
const LINKS = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' java\tscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  '//evil.example/x',
  'https://evil.example/x.png',
]

/** More than two hundred of every sort: tags, handlers, ways out of what stands around them, links, controls. */
const PAYLOADS: readonly string[] = [
  ...TAGS.flatMap((tag) =>
    CLOSERS.slice(0, 7).map((out) => `${out}<${tag} src=//evil.example onload=alert(1)>`),
  ),
  ...EVENTS.flatMap((event) => CLOSERS.map((out) => `${out}<b ${event}=alert(1) x="`)),
  ...LINKS.flatMap((link) => [`[a](${link})`, `![a](${link})`, `<${link}>`, `[a]: ${link}`, link]),
  '\u202e<script>\u202c',
  '\x1b[31m<script>alert(1)</script>\x1b[0m',
  '\x1b]8;;https://evil.example\x07click\x1b]8;;\x07',
  '\x1b[38;5;1m"><img src=x onerror=alert(1)>',
  '**<script>**',
  '`<script>`',
  '```\n<script>alert(1)</script>\n```',
  '> <script>',
  '- <img src=x onerror=alert(1)>',
  '# <svg onload=alert(1)>',
  '| <script> |\n|---|',
  '<!--<script>',
  '<![CDATA[<script>]]>',
  '&#60;script&#62;',
  '\ud800<script>',
  '\0<script>',
]

function sessionOf(text: string): Session {
  return {
    id: text,
    title: text,
    agent: text,
    model: text,
    status: 'failed',
    error: text,
    cwd: text,
    run: { id: text, flow: text, step: text },
    startedAt: text,
    reportedCost: text,
    totals: { entries: 1, toolCalls: 1, calls: 1, models: [text], cost: { usd: text, unpriced: [text] } },
  }
}

function itemsOf(text: string): readonly ReadItem[] {
  const blocks: readonly Block[] = [
    { type: 'text', text },
    { type: 'thinking', text, signature: text },
    { type: 'tool-call', callId: 'a', name: text, input: { command: text, [text]: text } },
    {
      type: 'tool-call',
      callId: 'b',
      name: 'Edit',
      input: { file_path: text, old_string: `a\n${text}`, new_string: text },
    },
    { type: 'tool-call', callId: 'c', name: text, input: text },
    { type: 'image', url: text, mediaType: text },
    { type: 'image', data: text, mediaType: 'image/png' },
    { type: 'image', data: 'aGk=', mediaType: text },
    { type: 'error', message: text, code: text },
    { type: 'unknown', raw: { [text]: text }, reason: text },
  ]
  const entry = (sequence: number, more: Partial<Entry>): ReadItem => ({
    type: 'entry',
    entry: {
      id: `${text}${sequence}`,
      source: text,
      sequence,
      kind: 'message',
      role: 'assistant',
      blocks,
      at: text,
      model: text,
      ...more,
    },
  })
  return [
    entry(0, {}),
    entry(1, {
      role: 'tool',
      blocks: [{ type: 'tool-result', callId: 'a', name: text, output: text, error: text }],
    }),
    entry(2, { role: 'tool', blocks: [{ type: 'tool-result', callId: 'b', output: blocks }] }),
    entry(3, { role: 'user', blocks, source: 'primary' }),
    entry(4, { kind: 'event', metadata: { record: text }, blocks: [{ type: 'text', text }] }),
    { type: 'damage', damage: { kind: 'torn', file: text, byteOffset: 0, byteLength: 1, reason: text } },
  ]
}

async function made(as: 'html' | 'md' | 'json', text: string): Promise<string> {
  const items = (async function* () {
    yield itemsOf(text)
  })()
  let whole = ''
  for await (const part of exportSession(as, { session: sessionOf(text), items, timeZone: 'UTC' }))
    whole += part
  return whole
}

const NAMES =
  'html|head|title|body|main|article|h1|dl|dt|dd|h2|h3|small|p|code|strong|em|ul|li|blockquote|ins|del|details|summary|pre|section|span|style'
/** All tags that the page may have, to the letter. */
const OURS = new RegExp(
  `^(?:</?(?:${NAMES})>|<!doctype html>|<html lang="en">|<details open>|<(?:pre|section|span|summary|p) class="[a-z0-9 ]+">` +
    `|<meta (?:charset="utf-8"|name="(?:referrer|viewport)" content="[a-z=-]+"|http-equiv="Content-Security-Policy" content="[^"<>]+")>` +
    `|<img alt="a picture" src="data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+">)$`,
)

describe('an export of hostile content', () => {
  it('is put to more than two hundred payloads', () => {
    expect(new Set(PAYLOADS).size).toBeGreaterThan(200)
  })

  it('has no tag on its page that is not ours, whatever any field says', async () => {
    for (const payload of PAYLOADS) {
      const html = await made('html', payload)
      for (const [tag] of html.matchAll(/<[^>]*>?/g)) expect(tag, payload).toMatch(OURS)
      expect(html).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
      expect([html.includes('\x1b'), html.includes('\0')]).toEqual([false, false])
      expect(html).toContain(
        `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-`,
      )
      expect(html).not.toContain('unsafe-inline')
      expect(html).not.toMatch(/<[^>]+\s(?:href|style|on\w+)=/i)
    }
  })

  it('is JSON that reads back, and Markdown in which no HTML stands outside a fence', async () => {
    for (const payload of PAYLOADS) {
      const parsed = JSON.parse(await made('json', payload)) as {
        session: Session
        entries: readonly Entry[]
      }
      expect(parsed.session).toEqual(JSON.parse(JSON.stringify(sessionOf(payload))))
      expect(parsed.entries).toHaveLength(5)
      const md = await made('md', payload)
      expect(outsideFences(md), payload).not.toMatch(/(?<!\\)<[a-z!/]/i)
    }
  })

  it('is drawn in time that grows with what there is', async () => {
    const texts = ['*', '[', '`', '> ', '\x1b[', '- ', '**a', '[a](', '# ', '*a', '![', '1. '].map((mark) =>
      mark.repeat(60_000),
    )
    for (const text of texts) {
      for (const draw of [markdown, terminal]) {
        const started = process.cpuUsage()
        draw(text)
        const { user, system } = process.cpuUsage(started)
        // Milliseconds; what is quadratic takes minutes.
        expect((user + system) / 1000, text.slice(0, 5)).toBeLessThan(2000)
      }
    }
  })
})

function outsideFences(md: string): string {
  let fence: string | undefined
  const kept: string[] = []
  for (const line of md.split('\n')) {
    const [mark] = /^`{3,}/.exec(line) ?? []
    if (fence === undefined && mark !== undefined) fence = mark
    else if (fence !== undefined && line === fence) fence = undefined
    else if (fence === undefined) kept.push(line.replaceAll(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, ''))
  }
  return kept.join('\n')
}
