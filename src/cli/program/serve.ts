/** The server: serve, demo. */
import type { Command } from 'commander'
import { examples, HOME_FLAG, JSON_FLAG, toCount, toNumber, UTC_FLAG } from './flags.ts'

const PORT_FLAG = [
  '--port <number>',
  'the port (default: the first that is free from 4747 on; 0: any)',
  toCount,
] as const
const IDLE_FLAG = [
  '--idle <seconds>',
  'end when nobody has asked for anything for so long (default: never)',
  toNumber,
] as const

export function addServing(program: Command): void {
  program
    .command('serve')
    .description('a page to look at everything in the archive, and an API for programs, on this machine')
    .option(...PORT_FLAG)
    .option(
      '--host <address>',
      'the address to listen at (default: 127.0.0.1, which only this machine reaches)',
    )
    .option(
      '--expose',
      'with --host: other machines may reach it, unencrypted; whoever has the token reads everything',
    )
    .option('--write', 'the API may also start a sync; without it, it only reads')
    .option('--otlp', 'take in what programs export of their agents: OTLP over HTTP, at this port')
    .option('--format <format...>', 'with --otlp: write these formats beside the journals, live')
    .option('--no-sync', "agents' logs are not looked at while it runs")
    .option(...IDLE_FLAG)
    .option('--exclude <glob...>', 'what not to look at')
    .option(...UTC_FLAG)
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples('hansard serve', 'hansard serve --port 8080 --no-sync', 'hansard serve --otlp'),
    )
    .action(async (options) => (await import('../commands/serve.ts')).serve(options))

  program
    .command('demo')
    .description('the page on a sample archive that shows all there is, made up, in a folder of its own')
    .option('--out <dir>', 'where to put it (default: a new temporary folder)')
    .option(...PORT_FLAG)
    .option(...IDLE_FLAG)
    .option('--no-serve', 'make the sample, say how to look at it, and end')
    .option(
      '--record',
      'instead: record a small session live, in every format, and say where it went and what it cost',
    )
    .option(...JSON_FLAG)
    .addHelpText('after', examples('hansard demo', 'hansard demo --out sample --no-serve'))
    .action(async (options) => (await import('../commands/demo.ts')).demo(options))
}
