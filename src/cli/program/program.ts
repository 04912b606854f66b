/**
 * Which commands there are and what they take. Static text only; each command's code is loaded when it is asked for, so that
 * help starts in little more time than Node.js itself.
 */
import { Command } from 'commander'
import { VERSION } from '../../version.ts'
import { coloursFor, declineColours, hasColours } from '../colour.ts'
import { addConverting } from './convert.ts'
import { addCost } from './cost.ts'
import { examples } from './flags.ts'
import { addHooking } from './hook.ts'
import { addKeeping } from './keep.ts'
import { addReading } from './read.ts'
import { addReplay } from './replay.ts'
import { addServing } from './serve.ts'
import { addShell } from './shell.ts'
import { addTaking } from './take.ts'
import { stdout } from '../streams.ts'

/** In a pipe. */
const HELP_WIDTH = 80

export function createProgram(): Command {
  const program = new Command('hansard')
    .description('The flight recorder for AI agents: every message, tool call and token, never lost.')
    .version(VERSION, '-v, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => stdout.columns ?? HELP_WIDTH,
      getOutHasColors: () => hasColours(stdout),
    })
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (text) => coloursFor(stdout).bold(text),
      styleCommandText: (text) => coloursFor(stdout).cyan(text),
      styleSubcommandText: (text) => coloursFor(stdout).cyan(text),
      styleOptionText: (text) => coloursFor(stdout).cyan(text),
    })
    .option('--no-color', 'no colours, also on a terminal; as with NO_COLOR')
    .on('option:no-color', declineColours)
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      examples(
        'hansard                                 syncs, and serves the page',
        'hansard show session.jsonl',
        'hansard convert session.jsonl --to devflow',
      ),
    )

  addTaking(program.commandsGroup('Take in:'))
  addHooking(program)
  addReading(program.commandsGroup('Read:'))
  addCost(program)
  addReplay(program)
  addServing(program)
  addConverting(program.commandsGroup('Formats:'))
  addKeeping(program.commandsGroup('The archive:'))
  addShell(program.commandsGroup('This program:'))
  return program
}
