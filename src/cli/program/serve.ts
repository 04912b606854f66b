/** The server: serve. */
import type { Command } from 'commander'
import { examples, HOME_FLAG, JSON_FLAG, toCount, UTC_FLAG } from './flags.ts'

export function addServing(program: Command): void {
  program
    .command('serve')
    .description('a page to look at everything in the archive, and an API for programs, on this machine')
    .option('--port <number>', 'the port (default: the first that is free from 4747 on; 0: any)', toCount)
    .option(
      '--host <address>',
      'the address to listen at (default: 127.0.0.1, which only this machine reaches)',
    )
    .option(
      '--expose',
      'with --host: other machines may reach it, unencrypted; whoever has the token reads everything',
    )
    .option('--write', 'the API may also start a sync; without it, it only reads')
    .option('--no-sync', "agents' logs are not looked at while it runs")
    .option('--exclude <glob...>', 'what not to look at')
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText('after', examples('hansard serve', 'hansard serve --port 8080 --no-sync'))
    .action(async (options) => (await import('../commands/serve.ts')).serve(options))
}
