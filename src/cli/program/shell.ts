/** What shells need of this program: completion, and the hidden complete. */
import { Argument, type Command } from 'commander'
import { examples, JSON_FLAG } from './flags.ts'

export function addShell(program: Command): void {
  program
    .command('completion')
    .description('what a shell needs to complete commands, flags, session ids and formats')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      examples(
        'source <(hansard completion bash)      in ~/.bashrc',
        'hansard completion zsh > "${fpath[1]}/_hansard"',
        'hansard completion fish > ~/.config/fish/completions/hansard.fish',
      ),
    )
    .action(async (shell, options) =>
      (await import('../commands/completion.ts')).completion(shell, program, options),
    )

  program.helpCommand('help [command]', 'what a command takes')

  program
    .command('complete', { hidden: true })
    .argument('[what]')
    .argument('[prefix]')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (what, prefix) => (await import('../commands/complete.ts')).complete(what, prefix))
}
