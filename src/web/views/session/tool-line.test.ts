import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toolLine } from './tool-line.ts'

describe('a tool call on one line', () => {
  it.each([
    ['Bash', { command: 'npm test\n  -- login', description: 'Run tests' }, 'Bash', 'npm test -- login'],
    ['shell', { command: ['bash', '-lc', 'ls -la'] }, 'shell', 'ls -la'],
    ['Read', { file_path: '/a/b.ts', offset: 3 }, 'Read', '/a/b.ts'],
    ['edit', { filePath: 'b.ts', oldString: 'x', newString: 'y' }, 'edit', 'b.ts'],
    ['Grep', { pattern: 'foo.*bar', path: 'src' }, 'Grep', 'foo.*bar in src'],
    ['Glob', { pattern: '**/*.ts' }, 'Glob', '**/*.ts'],
    [
      'Task',
      { description: 'Look around', prompt: 'Do it', subagent_type: 'scout' },
      'Task: scout',
      'Look around',
    ],
    ['WebFetch', { url: 'https://a.example', prompt: 'what' }, 'WebFetch', 'https://a.example'],
    ['mcp__github__create_issue', { title: 'It breaks' }, 'github create_issue', 'It breaks'],
    [
      'apply_patch',
      '*** Begin Patch\n*** Update File: a.ts\n*** Add File: b.ts\n*** End Patch',
      'apply_patch',
      'a.ts, b.ts',
    ],
    [
      'TodoWrite',
      { todos: [{ status: 'completed' }, { status: 'in_progress', content: 'b' }] },
      'TodoWrite',
      '1 of 2 done · b',
    ],
    ['read_files', { files: [{ path: 'a.ts' }, { path: 'b.ts' }] }, 'read_files', 'a.ts, b.ts'],
    ['run_commands', { commands: ['ls', 'npm test'], timeout: 5 }, 'run_commands', 'ls, npm test'],
    ['ask_user', { questions: [{ question: 'Which one?' }] }, 'ask_user', 'Which one?'],
    ['many', { ids: ['1', '2', '3', '4', '5', '6', '7', '8'] }, 'many', '1, 2, 3, 4, 5, 6 and 2 more'],
    ['anything', { a: 1, b: [1, 2], c: { d: 1 } }, 'anything', 'a: 1, b: [2], c: {…}'],
    ['nothing', undefined, 'nothing', ''],
    ['odd', null, 'odd', ''],
  ])('of %s says what it is about', (tool, input, name, says) => {
    expect(toolLine(tool, input as never)).toMatchObject({ name, says })
  })

  it('is one line, and short, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (tool, input) => {
        const { name, says } = toolLine(tool, input as never)
        expect(`${name}${says}`).not.toContain('\n')
        expect(name.length).toBeLessThanOrEqual(160)
        expect(says.length).toBeLessThanOrEqual(260)
      }),
    )
    expect(toolLine('Bash', { command: 'x'.repeat(5_000_000) }).says.length).toBeLessThanOrEqual(240)
  })
})
