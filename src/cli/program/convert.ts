/** Formats: convert, formats. */
import type { Command } from 'commander'
import { examples, FORMAT_FLAG, HOME_FLAG, JSON_FLAG, RAW_FLAG, UTC_FLAG } from './flags.ts'

export function addConverting(program: Command): void {
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
    .action(async (input, options) => (await import('../commands/convert.ts')).convert(input, options))

  program
    .command('formats')
    .description('the formats there are, which of them are written, and where their files lie here')
    .option(...JSON_FLAG)
    .action(async (options) => (await import('../commands/formats.ts')).formats(options))
}
