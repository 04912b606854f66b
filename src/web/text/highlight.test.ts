import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { highlight, languageOf } from './highlight.ts'

describe('code', () => {
  it('has its parts named, and all of it', async () => {
    const code = 'const a = "<b>" // why\n'
    const tokens = await highlight(code, 'ts')
    expect(tokens?.map(({ text }) => text).join('')).toBe(code)
    expect(tokens).toContainEqual({ text: 'const', scope: 'keyword' })
    expect(tokens).toContainEqual({ text: '"<b>"', scope: 'string' })
  })

  it('is the same text whatever is in it', async () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('<script>', '`${', '/*', "'", '"', '</style>', '<?php', '{{'),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece),
        fc.constantFrom('ts', 'html', 'py', 'bash', 'md', 'php'),
        async (pieces, lang) => {
          const code = pieces.join('')
          const tokens = await highlight(code, lang)
          if (tokens !== undefined) expect(tokens.map(({ text }) => text).join('')).toBe(code)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('stays as it is in languages that nobody knows, and when it is long', async () => {
    expect(await highlight('a', 'nothing')).toBeUndefined()
    expect(await highlight('a', 'constructor')).toBeUndefined()
    expect(await highlight('a '.repeat(100_000), 'ts')).toBeUndefined()
  })

  it('is known by a fence or a file', () => {
    expect(['ts', 'TypeScript title=x', 'src/a.test.tsx', 'Dockerfile', 'toml', ''].map(languageOf)).toEqual([
      'typescript',
      'typescript',
      'typescript',
      'dockerfile',
      'ini',
      undefined,
    ])
  })
})
