/** The command line: what was typed, put to its command; what goes wrong, said once, with the exit code. */
import { CommanderError } from 'commander'
import { HansardError } from '../errors.ts'
import { WrongSetting } from './config.ts'
import { FAILED, flush, printError, WRONG_USAGE } from './print.ts'
import { createProgram } from './program/program.ts'

export async function main(argv: readonly string[]): Promise<void> {
  const json =
    argv.includes('--json') || argv.includes('--as=json') || argv[argv.indexOf('--as') + 1] === 'json'
  const program = createProgram()
  try {
    if (argv.length <= 2) await (await import('./commands/serve.ts')).syncAndServe()
    else await program.parseAsync(argv)
    await flush()
  } catch (error) {
    if (error instanceof CommanderError) await complain(error, json)
    else await printError(error, json, error instanceof WrongSetting ? WRONG_USAGE : FAILED)
  }
}

/** Commander's own complaints, in our words and with our exit code. */
async function complain(error: CommanderError, json: boolean): Promise<void> {
  if (error.exitCode === 0) return
  // What `hansard help nope` comes to.
  const isUnknownTopic = error.code === 'commander.help'
  const message = isUnknownTopic
    ? 'there is no such command'
    : error.message.replace(/^error: /, '').replaceAll('\n', ' ')
  const hint = 'hansard --help lists the commands; hansard <command> --help says what one takes'
  await printError(new HansardError('invalid-argument', message, { hint }), json, WRONG_USAGE)
}
