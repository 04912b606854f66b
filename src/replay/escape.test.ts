import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { createDevflowView } from './devflow-view.ts'
import { createHtmlView } from './html.ts'
import { createMarkdownView } from './markdown.ts'
import { formatTranscript } from '../sources/transcript-text.ts'
import { cut, visible, visibleJson, visibleLine } from './escape.ts'
import { render } from './view.ts'

describe('what is printed', () => {
  it('shows control characters, escape sequences and bidirectional controls instead of sending them', () => {
    expect(visible('\u001b]52;c;aGk=\u0007 \u009b31m \u202eabc\u2069 \0 \u007f a\tb\nc')).toBe(
      String.raw`\x1b]52;c;aGk=\x07 \x9b31m \u202eabc\u2069 \x00 \x7f a` + '\tb\nc',
    )
    expect(visible('a\r\nb\rc')).toBe('a\nb' + String.raw`\rc`)
    expect(visible('\ud800 \u{e0041} 👩‍💻')).toBe(String.raw`\ud800 \u{e0041}` + ' 👩‍💻')
    expect(visibleLine('a\nb\tc')).toBe(String.raw`a\nb\tc`)
  })

  it('shows what is invisible, and leaves the joiners that writing needs', () => {
    expect(visible('a\u200bb\ufeffc\u180ed\ufff9e\ufffaf\ufffbg\u2060h\u00adi\u3164')).toBe(
      String.raw`a\u200bb\ufeffc\u180ed\ufff9e\ufffaf\ufffbg\u2060h\xadi\u3164`,
    )
    expect(visible('می‌خواهم 👩‍💻 \ufffd')).toBe('می‌خواهم 👩‍💻 \ufffd')
  })

  it('escapes them in JSON, which stays the same value', () => {
    const value = { 'k\u009b': ['\u001b[31m \u202e \u007f \u{e0041} \ud800 é 😀', 1, null] }
    const text = visibleJson(JSON.stringify(value, undefined, 2))
    expect(text).toContain(String.raw`"k\u009b"`)
    expect(text).toContain(String.raw`\u001b[31m \u202e \u007f \udb40\udc41 \ud800 é 😀`)
    expect(JSON.parse(text)).toEqual(value)
  })

  it('cuts between characters, never inside one', () => {
    expect(cut('abc', 3)).toBe('abc')
    expect(cut('abcd', 3)).toBe('abc...')
    expect(cut('😀😀😀', 3)).toBe('😀😀😀')
    expect(cut('😀😀😀😀', 3)).toBe('😀😀😀...')
  })

  it('never prints a control character, whatever a transcript holds', () => {
    // oxlint-disable-next-line no-control-regex
    const bad = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
    fc.assert(
      fc.property(transcript, ({ session, entries }) => {
        for (const view of [createDevflowView(), createMarkdownView(), createHtmlView()]) {
          expect(render(view, session, entries)).not.toMatch(bad)
        }
        expect(formatTranscript(entries)).not.toMatch(bad)
      }),
      { numRuns: 60 },
    )
  })
})
