import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffTexts, patchRows, searchReplaceRows, type DiffRow } from './diff.ts'
import { editsOf } from './edits.ts'

const side = (rows: readonly DiffRow[], other: 'gone' | 'new'): string[] =>
  rows.flatMap((row) => (row.kind === 'skip' || row.kind === 'note' || row.kind === other ? [] : [row.text]))

describe('differences', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', 'let x = 1', 'let x = 2'), { maxLength: 7 })

  it('hold both texts, line by line', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const rows = diffTexts(
          before.map((line) => `${line}\n`).join(''),
          after.map((line) => `${line}\n`).join(''),
        )
        const skipped = rows.reduce((sum, row) => sum + (row.kind === 'skip' ? row.count : 0), 0)
        expect(side(rows, 'new').length + skipped).toBe(before.length)
        expect(side(rows, 'gone').length + skipped).toBe(after.length)
        if (skipped > 0) return
        expect(side(rows, 'new')).toEqual(before)
        expect(side(rows, 'gone')).toEqual(after)
      }),
    )
  })

  it('mark the words that differ', () => {
    expect(diffTexts('const a = one(2)', 'const a = two(2)')).toMatchObject([
      { kind: 'gone', marks: [{ start: 10, end: 13 }] },
      { kind: 'new', marks: [{ start: 10, end: 13 }] },
    ])
  })

  it('leave out what is far from any difference', () => {
    const many = Array.from({ length: 50 }, (_, at) => `line ${at}`)
    const rows = diffTexts(many.join('\n'), [...many.slice(0, 25), 'new', ...many.slice(25)].join('\n'))
    expect(rows.map(({ kind }) => kind)).toEqual([
      'skip',
      'same',
      'same',
      'same',
      'new',
      'same',
      'same',
      'same',
      'skip',
    ])
    expect(rows[0]).toEqual({ kind: 'skip', count: 22 })
  })

  it('end in time for texts that have nothing in common', () => {
    const text = (mark: string): string =>
      Array.from({ length: 20_000 }, (_, at) => `${mark} ${at}`).join('\n')
    const began = process.cpuUsage()
    expect(diffTexts(text('a'), text('b'))).toHaveLength(40_000)
    expect(diffTexts('x '.repeat(10_000), 'y '.repeat(10_000))).toHaveLength(2)
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(4000)
  })
})

describe('edits', () => {
  const kinds = (rows: readonly DiffRow[] = []): string =>
    rows.map(({ kind }) => ({ same: ' ', gone: '-', new: '+', skip: '.', note: '@' })[kind]).join('')

  it.each([
    ['Edit', { file_path: 'a.ts', old_string: 'a', new_string: 'b' }, 'a.ts', '-+'],
    ['edit', { filePath: 'a.ts', oldString: 'a', newString: 'b' }, 'a.ts', '-+'],
    [
      'str_replace_editor',
      { command: 'str_replace', path: 'a.ts', old_str: 'a\nb', new_str: 'a\nc' },
      'a.ts',
      ' -+',
    ],
    ['str_replace_editor', { command: 'create', path: 'a.ts', file_text: 'a\nb' }, 'a.ts', '++'],
    ['str_replace_editor', { command: 'insert', path: 'a.ts', new_str: 'a' }, 'a.ts', '+'],
    [
      'MultiEdit',
      {
        file_path: 'a.ts',
        edits: [
          { old_string: 'a', new_string: 'b' },
          { old_string: 'c', new_string: '' },
        ],
      },
      'a.ts',
      '-+-',
    ],
    ['Write', { file_path: 'a.ts', content: 'a\nb\n' }, 'a.ts', '++'],
    [
      'apply_patch',
      { input: '*** Begin Patch\n*** Update File: a.ts\n@@\n same\n-old\n+new\n*** End Patch' },
      'a.ts',
      '@ -+',
    ],
    [
      'shell',
      { command: ['apply_patch', '*** Begin Patch\n*** Add File: a.ts\n+new\n*** End Patch'] },
      'a.ts',
      '+',
    ],
    ['patch', { patch: '--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-old\n+new' }, 'a.ts', '@-+'],
    [
      'replace_in_file',
      { path: 'a.ts', diff: '<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE' },
      'a.ts',
      '-+',
    ],
  ])('of %s with %j are lines that went and came', (name, input, file, expected) => {
    const [edit] = editsOf(name, input)
    expect([edit?.file, kinds(edit?.rows)]).toEqual([file, expected])
  })

  it('of a patch come by file', () => {
    const patch =
      '*** Begin Patch\n*** Update File: a\n-x\n*** Delete File: b\n*** Add File: c\n+y\n*** End Patch'
    expect(editsOf('apply_patch', patch).map(({ file }) => file)).toEqual(['a', 'b', 'c'])
  })

  it('are none of calls that only read', () => {
    expect(editsOf('Read', { file_path: 'a' })).toEqual([])
    expect(editsOf('Bash', { command: 'ls' })).toEqual([])
    expect(editsOf('x', null)).toEqual([])
    expect(editsOf('Grep', { search: 'a', path: 'b' })).toEqual([])
  })

  it('never throw, whatever a model calls its arguments', () => {
    fc.assert(fc.property(fc.string(), fc.jsonValue(), (name, input) => void editsOf(name, input as never)))
  })

  it('of patches without an end take time in proportion', () => {
    const began = process.cpuUsage()
    searchReplaceRows('<<<<<<< SEARCH\n'.repeat(20_000))
    searchReplaceRows('<<<<<<< SEARCH\n=======\n'.repeat(10_000))
    patchRows('-a\n+b\n'.repeat(20_000))
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(3000)
  })
})
