/**
 * The command line: which commands there are and what they take. Static text only; each command's code is loaded when it is
 * asked for, so that help starts in little more time than Node.js itself.
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { HansardError } from '../errors.ts'
import { parseUsd } from '../cost/money.ts'
import { MODES } from '../replay/view.ts'
import { COST_BY, PERIODS, type Budget } from '../search/cost-by.ts'
import { ROLES } from '../transcript/entry.ts'
import { STATUSES } from '../transcript/session.ts'
import { VERSION } from '../version.ts'
import { endQuietlyWithoutReader, flush, printError, WRONG_USAGE } from './print.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const JSON_FLAG = ['--json', 'one JSON document instead of text'] as const
const HOME_FLAG = ['--home <dir>', 'the archive (default: HANSARD_HOME, or ~/.hansard)'] as const
const FORMAT_FLAG = [
  '--format <format>',
  'what the input is in, where it is not to be told by its content',
] as const
const RAW_FLAG = ['--raw', 'kept sessions as they are, with the secrets that are in them'] as const
const UTC_FLAG = ['--utc', 'times in UTC instead of local time'] as const

function createProgram(): Command {
  const program = new Command('hansard')
    .description('The flight recorder for AI agents: every message, tool call and token, never lost.')
    .version(VERSION, '-v, --version')
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      examples('hansard show session.jsonl', 'hansard convert session.jsonl --to devflow'),
    )

  program
    .command('show <session>')
    .description(
      'a session for people: one of the archive by its id or the beginning of it, an entry by its citation, a file, or a folder',
    )
    .addOption(
      new Option('--as <view>', 'text, Markdown, a page, or the model').choices([
        'text',
        'md',
        'html',
        'json',
      ]),
    )
    .addOption(new Option('--mode <mode>', "devflow's views").choices(MODES))
    .option('--turn <number>', 'only this turn, from 1', toNumber)
    .option('--source <source>', 'only entries of this source: primary, subagent:<id>')
    .addOption(new Option('--role <role>', 'only entries of this role').choices(ROLES))
    .addOption(
      new Option('--context <number>', 'entries before and after one that is cited (default: 2)').argParser(
        toCount,
      ),
    )
    .option('--events', 'also records that are no messages and whose meaning is not known here')
    .option('--session <id>', 'which one, where the input holds several; the beginning of its id is enough')
    .option('--all', 'all of them, where the input holds several')
    .option(...FORMAT_FLAG)
    .option(...RAW_FLAG)
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option('--json', 'the same as --as json')
    .addHelpText(
      'after',
      examples(
        'hansard show 0192',
        'hansard show .devflow/runs/x --mode summary',
        'hansard show s.jsonl --as html > s.html',
      ),
    )
    .action(async (session, options) => (await import('./commands/show.ts')).show(session, options))

  program
    .command('convert <input>')
    .description('any format to any format; says what the target cannot hold and what it had to fill in')
    .requiredOption('--to <format>', 'the format to write: see hansard formats')
    .option('--out <dir>', "where the format's own folder goes", '.')
    .option('--session <id>', 'only this session, where the input holds several')
    .option('--force', 'replace files that hold something else')
    .option(...FORMAT_FLAG)
    .option(...RAW_FLAG)
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples(
        'hansard convert session.jsonl --to devflow',
        'hansard convert 0192 --to leslie --out /tmp/x --json',
      ),
    )
    .action(async (input, options) => (await import('./commands/convert.ts')).convert(input, options))

  program
    .command('sync [paths...]')
    .description(
      "finds agents' logs on this machine, keeps their bytes, and takes in what is new; with paths, only what these hold",
    )
    .option('--watch', 'go on, and take in what is written as it is written')
    .option('--no-keep', 'read where the files lie, and keep nothing')
    .option('--index', 'also index what is new, for search; without it, a search reads it through')
    .option('--exclude <glob...>', 'what not to look at: ~/private, **/secret/**')
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
    .action(async (paths, options) => (await import('./commands/sync.ts')).syncCommand(paths, options))

  program
    .command('import <paths...>')
    .description('files, folders, zip and tar files, or - for standard input, taken into the archive once')
    .option('--exclude <glob...>', 'what not to look at')
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText('after', examples('hansard import logs.zip old/', 'hansard import - < session.jsonl'))
    .action(async (paths, options) => (await import('./commands/import.ts')).importCommand(paths, options))

  program
    .command('doctor')
    .description(
      'the health of the archive: what is kept, what could not be read, what agents write that is new here, what they delete',
    )
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .action(async (options) => (await import('./commands/doctor.ts')).doctor(options))

  program
    .command('formats')
    .description('the formats there are, which of them are written, and where their files lie here')
    .option(...JSON_FLAG)
    .action(async (options) => (await import('./commands/formats.ts')).formats(options))

  program
    .command('demo')
    .description('records a small session live, in every format, and says where it went and what it cost')
    .option('--out <dir>', 'where to put it (default: a new temporary folder)')
    .option(...JSON_FLAG)
    .action(async (options) => (await import('./commands/demo.ts')).demo(options))

  program
    .command('list')
    .description('the sessions of the archive, newest first; with --runs, the runs they belong to')
    .option('--limit <number>', 'at most so many', toNumber)
    .addOption(new Option('--status <status>', 'only those that ended so').choices(STATUSES))
    .option('--flow <flow>', 'only sessions of this flow')
    .option('--run <id>', 'only sessions of this run')
    .option('--runs', 'runs instead of sessions')
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText('after', examples('hansard list --status failed', 'hansard list --runs --json'))
    .action(async (options) => (await import('./commands/list.ts')).list(options))

  program
    .command('search <query...>')
    .description(
      'the entries that say what is asked for: words, "phrases", prefix*, -not, OR, fields such as role: tool: since:',
    )
    .option('--limit <number>', 'at most so many (default: 20)', toNumber)
    .option('--newest', 'the newest first, instead of the best')
    .option('--case-sensitive', 'capitals and accents as they are written')
    .option('--regex', 'the query is one regular expression')
    .option('--timeout <seconds>', 'what was found until then is the answer', toNumber)
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples(
        'hansard search login undefined',
        "hansard search 'tool:Bash has:error since:7d'",
        'hansard search --regex "TODO.*fix"',
      ),
    )
    .action(async (query, options) => (await import('./commands/search.ts')).search(query, options))

  const cost = program
    .command('cost')
    .description('what calls cost at API list prices, each counted once: by day, session, model, and more')
    .addOption(new Option('--by <what>', 'what to group by (default: day)').choices(COST_BY))
    .option('--blocks', 'by blocks of five hours, as limits of use count them')
    .option('--since <time>', 'only calls since then: 2026-01-31, 7d, 24h, yesterday')
    .option('--until <time>', 'only calls until then; a day is a part of it')
    .addOption(
      new Option('--budget <amount/period>', 'exit 1 when over: 50/day, 200/week, 500/month').argParser(
        toBudget,
      ),
    )
    .option('--no-rollup', 'sessions that others started as rows of their own')
    .option('--limit <number>', 'at most so many rows', toNumber)
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples(
        'hansard cost --by model --since 30d',
        'hansard cost --budget 50/day',
        'hansard cost explain 0192',
        'hansard cost prices claude-opus-5',
      ),
    )
    .action(async (options) => (await import('./commands/cost.ts')).cost(options))
  cost
    .command('prices [model]')
    .description('the price rows behind any cost, with where and when each was stated')
    .action(async (model, _, command: Command) =>
      (await import('./commands/cost-prices.ts')).costPrices(model, command.optsWithGlobals()),
    )
  cost
    .command('explain <session>')
    .description('how the cost of a session comes about, call by call')
    .action(async (session, _, command: Command) =>
      (await import('./commands/cost-explain.ts')).costExplain(session, command.optsWithGlobals()),
    )

  program
    .command('record')
    .description('entries as JSON lines on standard input, into a journal of the archive')
    .option('--format <format...>', 'write these formats beside it, live')
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
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText('after', examples(`echo '{"role":"user","text":"hello"}' | hansard record --format entire`))
    .action(async (options) => (await import('./commands/record.ts')).record(options))

  program
    .command('recover [session]')
    .description(
      "repairs what a crash left: journals, and the formats' files of sessions that were interrupted",
    )
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .action(async (session, options) => (await import('./commands/recover.ts')).recover(session, options))

  program
    .command('clean')
    .description('what retention would delete; with --delete, deletes it')
    .addOption(
      new Option('--older-than <age>', 'sessions that ended longer ago than this: 12h, 30d, 8w')
        .argParser(toMillis)
        .default(30 * DAY_MS, '30d'),
    )
    .option('--delete', 'really delete, leaving a tombstone for each')
    .addOption(
      new Option('--pack', 'instead, compress kept files whose source has not changed for so long').conflicts(
        'delete',
      ),
    )
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples(
        'hansard clean --older-than 90d',
        'hansard clean --older-than 90d --delete',
        'hansard clean --pack',
      ),
    )
    .action(async (options) => (await import('./commands/clean.ts')).clean(options))

  return program
}

function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function toNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is not a whole number from 1.')
  return Number(text)
}

function toCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is not a whole number from 0.')
  return Number(text)
}

function toMillis(age: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([hdw])$/.exec(age) ?? []
  if (count === undefined)
    throw new InvalidArgumentError('An age is a number of hours, days or weeks: 12h, 30d, 8w.')
  return Number(count) * { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }[unit as 'h' | 'd' | 'w']
}

function toBudget(text: string): Budget {
  const [, amount = '', period] = /^\$?([\d.]{1,20})\/([a-z]{1,5})$/.exec(text) ?? []
  const per = PERIODS.find((one) => one === period)
  const pico = parseUsd(amount)
  if (per === undefined || pico === undefined)
    throw new InvalidArgumentError(
      'A budget is so many US dollars in each period: 50/day, 200/week, 500/month.',
    )
  return { pico, per }
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

async function main(argv: readonly string[]): Promise<void> {
  const json =
    argv.includes('--json') || argv.includes('--as=json') || argv[argv.indexOf('--as') + 1] === 'json'
  endQuietlyWithoutReader()
  const program = createProgram()
  try {
    if (argv.length <= 2) program.outputHelp()
    else await program.parseAsync(argv)
    await flush()
  } catch (error) {
    if (error instanceof CommanderError) await complain(error, json)
    else await printError(error, json)
  }
}

await main(process.argv)
