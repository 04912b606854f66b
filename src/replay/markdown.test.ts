import { marked, type Token } from 'marked'
import { describe, expect, it } from 'vitest'
import { call, entry, result, session } from '../../test/replay-entries.ts'
import { createMarkdownView } from './markdown.ts'
import { render } from './view.ts'

const timeZone = 'UTC'

/** Where a reader's program would lead. */
const linksIn = (token: Token): readonly string[] => [
  ...(token.type === 'link' ? [String((token as { readonly href?: unknown }).href)] : []),
  ...((token as { readonly tokens?: readonly Token[] }).tokens ?? []).flatMap(linksIn),
]

describe('Markdown', () => {
  it('has the metadata as a table, a heading for each turn and each tool call', () => {
    const text = render(createMarkdownView({ timeZone }), session, [
      entry('user', 'hello'),
      entry('assistant', [call('t')]),
      entry('tool', [result('t', 'out')]),
    ])
    expect(text).toContain('| Flow | ticket-to-pr |\n| Status | failed |\n')
    expect(text).toContain('### User (Turn 1)\n\n*09:15:32*\n\nhello\n')
    expect(text).toContain(
      '#### Tool Call: `Read`\n\nInput:\n\n```json\n{\n  "path": "src/main.py"\n}\n```\n',
    )
    expect(text).toContain('Output:\n\n```\nout\n```\n')
  })

  it('has fences that nothing inside can close', () => {
    const text = render(createMarkdownView(), session, [
      entry('assistant', [call('t', 'x`y')]),
      entry('tool', [result('t', '```\n# forged\n`````')]),
    ])
    expect(text).toContain('``````\n```\n# forged\n`````\n``````\n')
    expect(text).toContain('Tool Call: ``x`y``')
  })

  it.each([
    '# forged',
    '<img src=x>',
    '![x](http://x)',
    '```',
    '---',
    '| a |',
    '[a]: http://x',
    '\tcode',
    'forged\n=',
    'forged\n-',
    'a | b\n:-|-:',
    '* * *',
    '_ _ _',
  ])('fences prose that could be structure or load something: %j', (text) => {
    expect(render(createMarkdownView(), session, [entry('user', text)])).toContain(`\n${text}\n\`\`\``)
  })

  it.each([
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    '\n  vbscript:x',
    'javascript\\:alert(1)',
    '&#106;avascript:alert(1)',
    'javascript&colon;alert(1)',
    'smb://host/share',
    'file:///etc/passwd',
    'ms-msdt:/id',
    '//host/share',
    '\\\\host\\share',
    'data:text/html,x',
  ])('leaves no link to %j', (to) => {
    const text = render(createMarkdownView(), session, [entry('user', `see [this](${to}) there`)])
    expect(marked.lexer(text).flatMap(linksIn)).toEqual([])
    expect(text).toContain(String.raw`see [this]\(`)
  })

  it.each(['https://x.example/a_(b)', 'HTTP://x', 'mailto:a@b.c', 'src/a.ts:12', './a', '#top', 'a'])(
    'keeps a link to %j',
    (to) => {
      const text = `see [this](${to}) there`
      expect(render(createMarkdownView(), session, [entry('user', text)])).toContain(`\n${text}\n`)
    },
  )

  it('finds links in linear time', () => {
    const text = '](x'.repeat(300_000)
    expect(render(createMarkdownView(), session, [entry('user', text)])).toContain(String.raw`]\(x]\(x`)
  })

  it('keeps a title on its line and its marks plain', () => {
    const text = render(createMarkdownView(), { ...session, title: 'a\n# b | <script> [x](y)' }, [])
    expect(text.split('\n')[0]).toBe(String.raw`# a\\n\# b \| \<script\> \[x\](y)`)
  })
})
