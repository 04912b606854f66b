/** Every command of the program, found by walking it: what all of them promise. */
import { describe, expect, it } from 'vitest'
import type { Command } from 'commander'
import { createProgram } from '../src/cli/program/program.ts'
import { run, temporaryFolder } from './program.ts'

type Named = { readonly path: readonly string[]; readonly command: Command }

function below(command: Command, path: readonly string[] = []): readonly Named[] {
  const visible = command.createHelp().visibleCommands(command)
  return visible
    .filter((one) => one.name() !== 'help')
    .flatMap((one) => {
      const own = [...path, one.name()]
      return [{ path: own, command: one }, ...below(one, own)]
    })
}

const commands = below(createProgram())
const named = commands.map(({ path, command }) => [path.join(' '), command] as const)

const cwd = temporaryFolder()
const env = { HANSARD_HOME: cwd }

/** Something for all that is required, so that only the flag is wrong. */
function argumentsOf(command: Command): readonly string[] {
  const values = command.registeredArguments.filter(({ required }) => required)
  const flags = command.options.filter(({ mandatory }) => mandatory)
  return [
    ...values.map((argument) => argument.argChoices?.[0] ?? 'x'),
    ...flags.map((option) => `${option.long}=x`),
  ]
}

const problemOf = (stdout: string): unknown => (JSON.parse(stdout) as { error: unknown }).error

describe('the program', () => {
  it('has the commands that this test is about', () => {
    expect(named.map(([name]) => name)).toEqual(
      expect.arrayContaining(['show', 'list', 'search', 'cost', 'cost explain', 'sync', 'completion']),
    )
  })
})

describe.each(named)('%s', (name, command) => {
  const path = name.split(' ')

  it('takes --json, and says so in its help', () => {
    expect(
      command
        .createHelp()
        .visibleOptions(command)
        .concat(command.createHelp().visibleGlobalOptions(command))
        .map(({ long }) => long),
    ).toContain('--json')
    expect(command.description()).toMatch(/^\S.{9,}[^.]$/)
  })

  it('answers a flag that it does not know with a typed error and exit code 2', async () => {
    const { code, stdout, stderr } = await run(
      [...path, ...argumentsOf(command), '--no-such-flag', '--json'],
      { env, cwd },
    )
    expect(problemOf(stdout)).toEqual({
      code: 'invalid-argument',
      message: expect.stringContaining('--no-such-flag'),
      hint: expect.stringContaining('--help'),
    })
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
  })

  it('says the same to people, on standard error', async () => {
    const { code, stdout, stderr } = await run([...path, ...argumentsOf(command), '--no-such-flag'], {
      env,
      cwd,
    })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^hansard: .*--no-such-flag/)
  })

  it('answers a missing argument the same way', async () => {
    if (argumentsOf(command).length === 0) return
    const { code, stdout } = await run([...path, '--json'], { env, cwd })
    expect(problemOf(stdout)).toMatchObject({ code: 'invalid-argument', hint: expect.any(String) })
    expect(code).toBe(2)
  })

  it('refuses values that a flag does not take', async () => {
    for (const option of command.options.filter(({ argChoices, parseArg }) => argChoices ?? parseArg)) {
      const { code, stdout } = await run(
        [...path, ...argumentsOf(command), `${option.long}=no-such-value`, '--json'],
        { env, cwd },
      )
      expect(problemOf(stdout)).toMatchObject({
        code: 'invalid-argument',
        message: expect.stringContaining(String(option.long)),
      })
      expect(code).toBe(2)
    }
  })
})
