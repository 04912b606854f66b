/** Agents' own hooks: hook, and its install, uninstall and status. */
import { Argument, Option, type Command } from 'commander'
import type { HookAgent } from '../../capture/hooks/entry.ts'
import { examples, HOME_FLAG, JSON_FLAG } from './flags.ts'

/** Not taken from where hooks are: what they load is not for every command. */
export const HOOKED = [
  'claude-code',
  'codex',
  'gemini-cli',
  'copilot-cli',
  'cursor',
] as const satisfies readonly HookAgent[]

export function addHooking(program: Command): void {
  const hook = program
    .command('hook [agent]')
    .description('what agents call by their own hooks, so that what they wrote is synced; install sets it up')
    .option(...HOME_FLAG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples('hansard hook install claude-code', 'hansard hook status', 'hansard hook uninstall codex'),
    )
    .action(async (agent, _, command: Command) =>
      (await import('../commands/hook.ts')).hookWithout(agent, command),
    )
  for (const name of ['install', 'uninstall'] as const) {
    hook
      .command(name)
      .description(
        name === 'install'
          ? "puts our hooks into an agent's settings, after showing the change"
          : "takes out of an agent's settings what install has put in",
      )
      .addArgument(new Argument('<agent>', 'whose settings').choices(HOOKED))
      .addOption(new Option('--user', 'for everything that this user does: the default').conflicts('project'))
      .option('--project', 'only for the project in this folder')
      .addOption(new Option('--yes', 'do not ask').conflicts('print'))
      .option('--print', 'only show what would change')
      .action(async (agent, _, command: Command) =>
        (await import('../commands/hook.ts')).changeHooks(name, agent, command.optsWithGlobals()),
      )
  }
  hook
    .command('status')
    .description('which agents call us, what waits to be synced, and what went wrong')
    .action(async (_, command: Command) =>
      (await import('../commands/hook.ts')).hookStatus(command.optsWithGlobals()),
    )
  hook
    .command('work', { hidden: true })
    .action(async (_, command: Command) =>
      (await import('../commands/hook.ts')).hookWork(command.optsWithGlobals()),
    )
}
