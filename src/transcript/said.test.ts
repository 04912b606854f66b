import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/stopwatch.ts'
import { saidText } from './said.ts'

describe('what a person said', () => {
  it('is all of a text without markup', () => {
    expect(saidText('  fix the login\nplease')).toBe('fix the login\nplease')
    expect(saidText('1 < 2, and <b> is bold')).toBe('1 < 2, and <b> is bold')
  })

  it('is what stands after the context that a program put before it', () => {
    const reminders = '<system-reminder>\nBe <b>safe</b>.\n</system-reminder>\n<env os="linux">x</env>\n\n'
    expect(saidText(`${reminders}List files`)).toBe('List files')
    expect(saidText('Sender (untrusted metadata):\n```json\n{ "id": 1 }\n```\n\nhello')).toBe('hello')
    expect(saidText('# Context from my IDE setup:\n- a.ts\n\n## My request for Codex:\nfix it\n')).toBe(
      'fix it\n',
    )
  })

  it('is nothing where there is only context', () => {
    expect(saidText('<environment_context>\n<cwd>/x</cwd>\n</environment_context>')).toBeUndefined()
    expect(saidText('<permissions instructions> none </permissions instructions>')).toBeUndefined()
    expect(saidText('<git-context>\nRemote: x …[cut]')).toBeUndefined()
    expect(saidText('<task-notification>x</task-notification>\nRead the output file.')).toBeUndefined()
    expect(saidText('# AGENTS.md instructions for /x\n\nbe kind')).toBeUndefined()
    expect(saidText(' \n ')).toBeUndefined()
  })

  it('is what a request holds, without what goes with it', () => {
    expect(saidText('<USER_REQUEST>\nGo\n</USER_REQUEST>\n<ADDITIONAL>x</ADDITIONAL>')).toBe('Go')
    expect(saidText('<user_query> </user_query>')).toBeUndefined()
  })

  it('is a command with what was given to it; one alone asks nothing', () => {
    const command = (name: string, args: string): string =>
      `<command-message>x</command-message>\n<command-name>/${name}</command-name>\n<command-args>${args}</command-args>`
    expect(saidText(command('debug', 'the page stays empty'))).toBe('/debug the page stays empty')
    expect(saidText(command('clear', ''))).toBeUndefined()
  })

  it('may begin with a tag that is written about', () => {
    expect(saidText('<Button> is not centred')).toBe('<Button> is not centred')
  })

  it('is found in time that grows with the text, whatever the markup', () => {
    const facts = 'x (untrusted):\n```json\n\n```\n'
    const spent = stopwatch()
    for (const hostile of [
      '<a>'.repeat(70_000),
      '<a></a>'.repeat(30_000),
      `<a ${'b '.repeat(90_000)}`,
      facts.repeat(5000),
    ])
      saidText(hostile)
    expect(spent()).toBeLessThan(2000)
  })
})
