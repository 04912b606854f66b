/** Commands that take something in: sync, import, record. */
import { Option, type Command } from 'commander'
import type { StreamName } from '../../capture/streams/stream.ts'
import { examples, FORMAT_FLAG, HOME_FLAG, JSON_FLAG, toCount } from './flags.ts'

/** Not taken from where streams are read: that is not for every command. */
export const PRINTED = [
  'claude-stream-json',
  'codex-exec-json',
  'gemini-stream-json',
  'acp',
] as const satisfies readonly StreamName[]

const umaskFlag = (): Option =>
  new Option(
    '--umask <who>',
    "who may read the formats' files: whoever the system's umask lets, or only their owner (default)",
  ).choices(['system', 'owner'])

export function addTaking(program: Command): void {
  program
    .command('sync [paths...]')
    .description(
      "finds agents' logs on this machine, keeps their bytes, and takes in what is new; with paths, only what these hold",
    )
    .option('--watch', 'go on, and take in what is written as it is written')
    .option('--no-keep', 'read where the files lie, and keep nothing')
    .option('--index', 'index what is new, for search: the default')
    .option('--no-index', 'leave what is new to be read through by searches')
    .option('--exclude <glob...>', 'what not to look at: ~/private, **/secret/**')
    .option(
      '--forget <path...>',
      'what was given before, and is not to be looked into any more; what is kept stays',
    )
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples(
        'hansard sync',
        'hansard sync ~/backup/.claude',
        "hansard sync --exclude '**/clients/**' --watch",
      ),
    )
    .action(async (paths, options) => (await import('../commands/sync.ts')).syncCommand(paths, options))

  program
    .command('import <paths...>')
    .description('files, folders, zip and tar files, or - for standard input, taken into the archive once')
    .option('--index', 'index what is new, for search: the default')
    .option('--no-index', 'leave what is new to be read through by searches')
    .option('--exclude <glob...>', 'what not to look at')
    .option(...FORMAT_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText('after', examples('hansard import logs.zip old/', 'hansard import - < session.jsonl'))
    .action(async (paths, options) => (await import('../commands/import.ts')).importCommand(paths, options))

  program
    .command('record')
    .description(
      'entries as JSON lines on standard input, into a journal of the archive; or what an agent prints as it runs',
    )
    .addOption(
      new Option('--from <stream>', "what the input is, where it is an agent's own").choices(PRINTED),
    )
    .option('--tee', 'with --from: the input goes on to standard output, as it is')
    .option('--format <format...>', 'write these formats beside it, live')
    .addOption(umaskFlag())
    .option(
      '--out <dir>',
      "the session's working directory, where formats put their files (default: this one)",
    )
    .option('--flow <flow>', 'the flow this is a step of')
    .option('--step <id>', 'the step of the flow')
    .option('--node <id>', 'the node of the flow')
    .option('--run <id>', 'the run it belongs to')
    .option('--identifier <text>', 'what the run is about, to make its id from: a ticket, a pull request')
    .option('--agent-key <key>', 'the agent key of the step')
    .option('--engine <engine>', 'the engine of the step')
    .option('--thread <id>', 'the thread it belongs to')
    .option('--chat <id>', 'the chat it belongs to')
    .option('--mode <mode>', "the agent's mode")
    .option('--agent <name>', 'the agent that is recorded')
    .option('--model <model>', 'the model it talks to')
    .option('--title <text>', 'what the session is about')
    .option('--stub', 'nothing was asked of a provider: a stub run, left out of cost')
    .option('--step-role <text>', "with --stub: what the step is for, as the stub's prompt says it")
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples(
        `echo '{"role":"user","text":"hello"}' | hansard record --format entire`,
        'claude -p hello --output-format stream-json --verbose | hansard record --from claude-stream-json --tee',
      ),
    )
    .action(async (options) => (await import('../commands/record.ts')).record(options))

  program
    .command('run <command...>')
    .description('runs an agent with its provider calls recorded, without changing it')
    .option('--format <format...>', 'write these formats beside the journal, live')
    .addOption(umaskFlag())
    .option('--upstream <name=url...>', 'a provider of your own, or another address of a known one')
    .option('--flow <flow>', 'the flow this is a step of')
    .option('--step <id>', 'the step of the flow')
    .option('--run <id>', 'the run it belongs to (default: a new one)')
    .option('--title <text>', 'what the sessions are about')
    .option('-q, --quiet', 'say nothing at the end')
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples('hansard run -- claude', 'hansard run --format entire -- codex exec "fix the build"'),
    )
    .action(async (command, options) => (await import('../commands/run.ts')).run(command, options))

  program
    .command('proxy')
    .description('the recording proxy alone: a provider’s address on this machine')
    .option('--port <port>', 'where it listens (default: a free one)', toCount)
    .option('--upstream <name=url...>', 'a provider of your own, or another address of a known one')
    .option('--format <format...>', 'write these formats beside the journals, live')
    .addOption(umaskFlag())
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples('hansard proxy --port 4141', 'ANTHROPIC_BASE_URL=http://127.0.0.1:4141/anthropic claude'),
    )
    .action(async (options) => (await import('../commands/proxy.ts')).proxy(options))
}
