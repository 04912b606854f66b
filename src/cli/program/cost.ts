/** What it cost: cost, and its prices and explain. */
import { Option, type Command } from 'commander'
import { COST_BY } from '../../search/cost-by.ts'
import { examples, HOME_FLAG, JSON_FLAG, toBudget, toNumber, UTC_FLAG } from './flags.ts'

export function addCost(program: Command): void {
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
    .option(
      '--no-index',
      'read all logs of this machine anew, where they lie; needs no archive, writes nothing',
    )
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
    .action(async (options) => (await import('../commands/cost.ts')).cost(options))
  cost
    .command('prices [model]')
    .description('the price rows behind any cost, with where and when each was stated')
    .action(async (model, _, command: Command) =>
      (await import('../commands/cost-prices.ts')).costPrices(model, command.optsWithGlobals()),
    )
  cost
    .command('explain <session>')
    .description('how the cost of a session comes about, call by call')
    .action(async (session, _, command: Command) =>
      (await import('../commands/cost-explain.ts')).costExplain(session, command.optsWithGlobals()),
    )
}
