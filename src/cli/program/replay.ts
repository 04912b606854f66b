/** Replay: a recording played back, served to an agent, verified, gone on with; and why a request was not found in it. */
import { Option, type Command } from 'commander'
import { MODES } from '../../replay/view.ts'
import { examples, HOME_FLAG, JSON_FLAG, toCount, toNumber, UTC_FLAG } from './flags.ts'

export function addReplay(program: Command): void {
  const replay = program
    .command('replay')
    .argument('[session]', 'a session, or a run')
    .argument('[command...]', 'after --: the program that is answered')
    .description(
      'a session played back; with --serve, as the provider of an agent: the agent runs, and its world is as it was',
    )
    .option('--serve', 'answer requests from the recording, for a program or until it is ended')
    .option(
      '--verify',
      'answer a program, and say where it parts from the recording; ends with 1 where it does',
    )
    .option('--junit <file>', 'with --verify: the verdict as JUnit has it, too')
    .option('--live', 'with --verify: also ask the provider, and say where it answers in another way')
    .option(
      '--from <entry>',
      'recorded answers up to this entry (12, or a citation), then live, as a new session',
    )
    .option('--set-model <model>', 'with --from: ask this model from there on')
    .option('--edit-prompt <text>', 'with --from: instead of the words of that entry')
    .option('--edit-result <text>', 'with --from: instead of what the tool gave in that entry')
    .option(
      '--upstream <name=url...>',
      'with --from: a provider of your own, or another address of a known one',
    )
    .option(
      '--mcp',
      'instead: a server of tools on standard input and output that gives recorded results, and runs nothing',
    )
    .option('--mcp-server <name>', 'with --mcp: the tools that the agent calls mcp__NAME__…')
    .option('--port <port>', 'where it listens (default: a free one)', toCount)
    .option(
      '--speed <speed>',
      'recorded: as it came; full: at once; played back also 2, 0.5 (default: recorded on a terminal, else full)',
    )
    .option('--idle <seconds>', 'played back: longer waits are shortened to this (default: 2)', toNumber)
    .addOption(new Option('--mode <mode>', "played back: devflow's views").choices(MODES))
    .option('--turn <number>', 'played back: only this turn, from 1', toNumber)
    .option('--follow', 'played back: go on with what is recorded meanwhile')
    .option(...UTC_FLAG)
    .addOption(
      new Option(
        '--match <way>',
        'the least exact way in which a request may be found (default: positional)',
      ).choices(['exact', 'normalised', 'positional']),
    )
    .option('--repeats <count>', 'how often the same may be asked beyond the recording (default: 5)', toCount)
    .option('--isolate', 'the program has no network but this one, where the machine allows it')
    .option('-q, --quiet', 'say nothing at the end')
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples(
        'hansard replay 01a1e0 --speed 4',
        'hansard replay 01a1e0 --serve -- claude -p "fix the build"',
        'hansard replay 01a1e0 --verify --junit replay.xml -- npm run agent',
        'hansard replay 01a1e0 --from 12 --set-model claude-opus-4-8 -- claude -p "fix the build"',
        'hansard replay why',
      ),
    )
    .action(async (session, command, options) =>
      (await import('../commands/replay.ts')).replay(session, command, options),
    )

  replay
    .command('why [session]')
    .description('how each request of the last replay was answered, and what was not found')
    .option('--all', 'also those that were exactly the same')
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText('after', examples('hansard replay why', 'hansard replay why 01a1e0 --json'))
    .action(async (session, options, command: Command) =>
      (await import('../commands/replay-why.ts')).why(session, command.optsWithGlobals()),
    )
}
