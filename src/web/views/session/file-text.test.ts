import { describe, expect, it } from 'vitest'
import { apart, isFileText } from './file-text.tsx'

describe('the text of a file that was read', () => {
  it('stands apart from the numbers of its lines', () => {
    expect(apart('   9→const a = 1\n  10→\n<note>')).toEqual({
      code: 'const a = 1\n\n<note>',
      numbers: '9\n10\n',
    })
    expect(apart('12\tx\t1\n13\ty')).toEqual({ code: 'x\t1\ny', numbers: '12\n13' })
  })

  it('is as it is where nothing numbers it', () => {
    expect(apart('a\n1\tb')).toEqual({ code: 'a\n1\tb' })
  })

  it('is code where its language is known and it is not too long', () => {
    expect(isFileText({ file: '/a/b.ts', text: 'x' })).toBe(true)
    expect(isFileText({ file: '/a/b.unheard-of', text: 'x' })).toBe(false)
    expect(isFileText({ file: '/a/b.ts', text: 'x'.repeat(30_001) })).toBe(false)
    expect(isFileText({ file: '/a/b.ts', text: '\u001b[1mx' })).toBe(false)
  })
})
