/** The archive itself: doctor, recover, clean. */
import { Option, type Command } from 'commander'
import { DAY_MS, examples, HOME_FLAG, JSON_FLAG, toMillis } from './flags.ts'

export function addKeeping(program: Command): void {
  program
    .command('doctor')
    .description(
      'the health of the archive: what is kept, what could not be read, what agents write that is new here, what they delete',
    )
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .action(async (options) => (await import('../commands/doctor.ts')).doctor(options))

  program
    .command('recover [session]')
    .description(
      "repairs what a crash left: journals, and the formats' files of sessions that were interrupted",
    )
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .action(async (session, options) => (await import('../commands/recover.ts')).recover(session, options))

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
    .action(async (options) => (await import('../commands/clean.ts')).clean(options))
}
