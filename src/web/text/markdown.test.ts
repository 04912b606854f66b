import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  cutMarkdown,
  MARKDOWN_PART,
  said,
  safeHref,
  toMarkdown,
  type MdNode,
  type MdNodes,
} from './markdown.ts'

const words = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '')

/** Every node of the tree. */
function all(nodes: MdNodes): MdNode[] {
  return nodes.flatMap((node) => {
    if (node.type === 'list') return [node, ...node.items.flatMap(({ children }) => all(children))]
    if (node.type === 'table')
      return [node, ...[node.header, ...node.rows].flat().flatMap((cell) => all(cell))]
    return 'children' in node ? [node, ...all(node.children)] : [node]
  })
}

/** Text with all that Markdown knows in it, closed or not. */
const markdown = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '# ',
        '## ',
        '- ',
        '* ',
        '1. ',
        '7) ',
        '> ',
        '```',
        '```ts\n',
        '~~~',
        '`',
        '**',
        '__',
        '_',
        '~~',
        '|',
        '|-|-|\n',

        '[',
        ']',
        '](',
        ')',
        '![',
        '<',
        '>',
        '<b onclick=x>',
        '</script>',
        '<script>',
        '<!--',
        '-->',
        '\\',
        '&lt;',
        '&#106;',

        '[a]: javascript:b\n',
        '[a](javascript:alert(1))',
        '[x](data:text/html,y)',
        '<https://e.example/z>',
        'a@b.example',

        '- [x] ',
        '- [ ] ',
        '---\n',
        '===\n',
        '    ',
        '\t',
        '\n',
        '\n\n',
        '  \n',
        '\r\n',
        ' ',
        'http://q.example',
        'www.w.example',
        '| a | b | c |\n',
        '| -- | -- |\n',
        '[r][a]',
        '![p](http://t.example/i.png)',
        '"',
        "'",
      ),
      fc.stringMatching(/^[a-z0-9é]{1,6}$/),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''))

describe('Markdown', () => {
  it('shows every letter and digit of what was written, in order', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        expect(words(said(toMarkdown(text)))).toBe(words(text))
      }),
      { numRuns: 2000 },
    )
  })

  it('links only to http, https and mailto, and loads no picture but those in the text itself', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        for (const node of all(toMarkdown(text))) {
          if (node.type === 'link' && node.href !== undefined)
            expect(node.href).toMatch(/^(?:https?|mailto):/)
          if (node.type === 'image' && node.data !== undefined)
            expect(node.data).toMatch(/^data:image\/[a-z]+;base64,/)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:http://x/y',
    '//evil.example',
    'https:evil',
    'http://a\u202eb',
    'http://',
  ])('does not take %j for an address to go to', (target) => {
    expect(safeHref(target)).toBeUndefined()
  })

  it('reads what people write', () => {
    expect(toMarkdown('# Hi\n\n- [x] a\n- b **c**\n\n5. five\n9. nine')).toMatchObject([
      { type: 'heading', depth: 1 },
      { type: 'list', items: [{ checked: true }, { children: [{ text: 'b ' }, { type: 'strong' }] }] },
      { type: 'list', isOrdered: true, items: [{ value: 5 }, { value: 9 }] },
    ])
    expect(toMarkdown('```ts\nlet a\n```')).toEqual([{ type: 'code', lang: 'ts', text: 'let a' }])
    expect(toMarkdown('| a | b |\n|---|---|\n| 1 | 2 |')).toMatchObject([
      { type: 'table', rows: [[[{ text: '1' }], [{ text: '2' }]]] },
    ])
    expect(toMarkdown('<script>x</script>')).toMatchObject([{ type: 'text', text: '<script>x</script>' }])
  })

  const n = MARKDOWN_PART
  it.each([
    '>',
    '> ',
    '[',
    '[]',
    '[a](',
    '*',
    '*a ',
    '**a *',
    '_a',
    '`',
    '- ',
    '1. ',
    '![a](',
    '<',
    '<a ',
    '<!--',
    'a@',
    'a.',
    '\\',
    '&',
    '~~a',
    'a**b',

    '*_',
    '**a_b~~',
    '> - ',
    '|',
    '|a',
    '#',
    '\t',
    '- a\n',
    '- a\n\n',
    '[a]: b\n',
    'a\n===\n',
    'www.',
    'http://a',
    '<a b="',
    '<?',
    '```\n',
  ])('takes less than a second of %j over and over', (piece) => {
    const text = piece.repeat(n / piece.length)
    const began = process.cpuUsage()
    expect(words(said(toMarkdown(text)))).toBe(words(text))
    const { user, system } = process.cpuUsage(began)
    expect((user + system) / 1000).toBeLessThan(1000)
  })
})

describe('cutting long Markdown', () => {
  it('goes on to the end, in parts that are not too long', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', '\n', '\n\n', '```\n', '😀', 'word '), { maxLength: 300 }),
        (parts) => {
          const text = parts.join('')
          let [at, joined] = [0, '']
          while (at < text.length) {
            const end = cutMarkdown(text.slice(at), 50)
            expect(end).toBeGreaterThan(0)
            expect(end).toBeLessThanOrEqual(50)
            expect(text.slice(at, at + end)).not.toMatch(/[\ud800-\udbff]$/)
            joined += text.slice(at, at + end)
            at += end
          }
          expect(joined).toBe(text)
        },
      ),
    )
  })
})
