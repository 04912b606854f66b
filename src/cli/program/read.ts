/** Commands that read the archive: show, export, list, stats, search. */
import { Option, type Command } from 'commander'
import { MODES } from '../../replay/view.ts'
import { SESSION_SORTS } from '../../search/session-sorts.ts'
import { ROLES } from '../../transcript/entry.ts'
import { STATUSES } from '../../transcript/session.ts'
import {
  examples,
  FORMAT_FLAG,
  HOME_FLAG,
  JSON_FLAG,
  RAW_FLAG,
  toCount,
  toNumber,
  UTC_FLAG,
} from './flags.ts'

export function addReading(program: Command): void {
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
    .option('--budget-tokens <number>', 'the most telling entries that fit, about; see --query', toNumber)
    .option('--query <query>', 'with a budget: entries that match it come first')
    .option('--timeout <seconds>', 'what was read until then is shown', toNumber)
    .option('--json', 'the same as --as json')
    .addHelpText(
      'after',
      examples(
        'hansard show 0192',
        'hansard show .devflow/runs/x --mode summary',
        'hansard show s.jsonl --as html > s.html',
        'hansard show 0192 --budget-tokens 4000 --query login --json',
      ),
    )
    .action(async (session, options) => (await import('../commands/show.ts')).show(session, options))

  program
    .command('export <session>')
    .description(
      'a session of the archive as one file: a page with its reader in it that opens anywhere, Markdown, text, JSON, or a recording of a terminal that asciinema plays',
    )
    .addOption(
      new Option('--as <kind>', 'what it becomes (default: html)').choices([
        'html',
        'md',
        'text',
        'json',
        'asciicast',
      ]),
    )
    .option('--out <file>', 'where to (default: a file named after the session, here); - for standard output')
    .option('--force', 'replace a file that is there')
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText('after', examples('hansard export 0192', 'hansard export 0192 --as md --out - | less'))
    .action(async (session, options) =>
      (await import('../commands/export.ts')).exportCommand(session, options),
    )

  program
    .command('diff <a> <b>')
    .description(
      'two sessions beside each other, by what was asked and done: where they part, then tools, files, tokens, cost and time',
    )
    .option('--full', 'every step that differs, with its words')
    .option('--turns', "devflow's comparison, turn by turn")
    .option('--exit-code', 'end with 1 when they differ')
    .option(...FORMAT_FLAG)
    .option(...RAW_FLAG)
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples(
        'hansard diff 0192 0193',
        'hansard diff before.jsonl after.jsonl --full',
        'hansard diff 0192 0193 --exit-code',
      ),
    )
    .action(async (a, b, options) => (await import('../commands/diff.ts')).diffCommand(a, b, options))

  program
    .command('list [query...]')
    .description(
      'the sessions of the archive, newest first: all, or those that a query asks for; with --runs, the runs they belong to',
    )
    .addOption(new Option('--sort <order>', 'what comes first (default: newest)').choices(SESSION_SORTS))
    .option('--reverse', 'the other way round')
    .option('--limit <number>', 'at most so many (default: 50; with --json, all)', toNumber)
    .option('--offset <number>', 'pass over so many', toCount)
    .option('--after <place>', 'go on after this session, or after what the page before says is next')
    .addOption(new Option('--status <status>', 'only those that ended so').choices(STATUSES))
    .option('--flow <flow>', 'only sessions of this flow')
    .option('--run <id>', 'only sessions of this run')
    .option('--since <time>', 'only those with something since then: 2026-01-31, 7d, 24h, yesterday')
    .option('--until <time>', 'only those with something until then; a day is a part of it')
    .option('--runs', 'runs instead of sessions')
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples(
        'hansard list --status failed',
        "hansard list 'tool:Bash has:error since:7d' --sort cost",
        'hansard list login project:shop',
        'hansard list --runs --json',
      ),
    )
    .action(async (query, options) => (await import('../commands/list.ts')).list(query, options))

  program
    .command('stats [query...]')
    .description(
      'what sessions come to: how they ended, tokens, cost and time, tools and their failures, what was done in vain',
    )
    .option('--since <time>', 'only sessions with something since then: 2026-01-31, 7d, 24h, yesterday')
    .option('--until <time>', 'only sessions with something until then; a day is a part of it')
    .addOption(new Option('--status <status>', 'only those that ended so').choices(STATUSES))
    .option('--flow <flow>', 'only sessions of this flow')
    .option('--run <id>', 'only sessions of this run')
    .option('--limit <number>', 'tools shown (default: 15), and findings of each kind (default: 5)', toNumber)
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText('after', examples('hansard stats --since 30d', 'hansard stats agent:codex --json'))
    .action(async (query, options) => (await import('../commands/stats.ts')).stats(query, options))

  program
    .command('search <query...>')
    .description(
      'the entries that say what is asked for: words, "phrases", prefix*, -not, OR, fields such as role: tool: since:',
    )
    .option('--limit <number>', 'at most so many (default: 20)', toNumber)
    .option('--newest', 'the newest first, instead of the best')
    .option('--case-sensitive', 'capitals and accents as they are written')
    .option('--regex', 'the query is one regular expression')
    .option(
      '--budget-tokens <number>',
      'the best that fit, about, each with as much as there is room for',
      toNumber,
    )
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
    .action(async (query, options) => (await import('../commands/search.ts')).search(query, options))
}
