import { describe, expect, it } from 'vitest'
import { call, entry, result, session } from '../../test/replay-entries.ts'
import type { Session } from '../transcript/session.ts'
import { createHtmlView } from './html.ts'
import { render } from './view.ts'

describe('HTML', () => {
  const attacks = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    '</pre></section><iframe src=//x>',
    '</style><script>',
    '&lt;script&gt;',
    'javascript:alert(1)',
  ]

  it('has no script, link or image, and every word of the session as text', () => {
    for (const attack of attacks) {
      const hostile: Session = {
        ...session,
        id: attack,
        title: attack,
        error: attack,
        agent: attack,
        run: { flow: attack },
      }
      const text = render(createHtmlView(), hostile, [
        entry('user', attack, { source: `subagent:${attack}`, model: attack }),
        entry('assistant', [call('t', attack)]),
        entry('tool', [result('t', attack, { error: attack })]),
        entry(undefined, [{ type: 'unknown', raw: { [attack]: attack } }], {
          kind: 'event',
          metadata: { record: attack },
        }),
        entry('user', [{ type: 'image', url: attack, mediaType: attack }]),
      ])
      const tags = new Set([...text.matchAll(/<\/?([a-z0-9!]+)/gi)].map(([, tag]) => tag))
      const ours =
        'html head meta title style body main article h1 dl dt dd section h2 small pre details summary p span code strong em h3 ul li blockquote ins del !doctype'
      for (const tag of tags) expect(ours.split(' ')).toContain(tag)
      expect(text).not.toMatch(/\s(src|href|on\w+)=["']/i)
    }
  })

  it('keeps the newline that text begins with, which HTML would drop', () => {
    const text = render(createHtmlView(), session, [entry('user', '\nfirst')])
    expect(text).toContain('<pre>\n\nfirst</pre>')
  })

  it('forbids everything in its own policy but its style', () => {
    const text = render(createHtmlView(), session, [])
    expect(text).toContain(`content="default-src 'none'; style-src 'sha256-`)
    expect(text.endsWith('</html>\n')).toBe(true)
  })
})
