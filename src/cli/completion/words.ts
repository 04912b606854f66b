/** What may stand where on the command line, taken from the program itself, so that completion never knows other commands. */
import type { Argument, Command, Option } from 'commander'

/** What a value is: one of some words, or what the program is asked for when it is typed (`hansard complete`). */
export type Wanted =
  | { readonly kind: 'choices'; readonly words: readonly string[] }
  | { readonly kind: 'sessions' | 'formats' | 'targets' | 'files' | 'folders' | 'anything' }

export type CompletedOption = {
  /** `-v`, `--version`. */
  readonly names: readonly string[]
  readonly description: string
  /** Absent for flags that take no value. */
  readonly value?: Wanted
}

export type CompletedCommand = {
  /** What is typed to get here, after the program's name: `['cost', 'explain']`. */
  readonly path: readonly string[]
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly CompletedOption[]
  /** Absent where there is nothing to name. */
  readonly argument?: Wanted
}

/** The program first, then every command below it. */
export function completedCommands(
  command: Command,
  path: readonly string[] = [],
): readonly CompletedCommand[] {
  const help = command.createHelp()
  const below = help.visibleCommands(command)
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
  const [argument] = command.registeredArguments
  const own: CompletedCommand = {
    path,
    commands: below.map((one) => ({ name: one.name(), description: one.description() })),
    options: options.map(toOption),
    ...(argument && { argument: wantedAs(argument.name(), argument) }),
  }
  return [own, ...below.flatMap((one) => completedCommands(one, [...path, one.name()]))]
}

function toOption(option: Option): CompletedOption {
  const [, name, more] = /[<[]([^.>\]]+)(\.\.\.)?/.exec(option.flags) ?? []
  // Several formats at once are those to write.
  const isTarget = name === 'format' && (more !== undefined || option.long === '--to')
  const value = isTarget ? 'target' : name
  return {
    names: [option.short, option.long].filter((name) => name !== undefined),
    description: option.description,
    ...(value !== undefined && { value: wantedAs(value, option) }),
  }
}

/** By the names that commands give their values in their help. A session may also be a file. */
const KINDS: ReadonlyMap<string, Exclude<Wanted['kind'], 'choices'>> = new Map([
  ['dir', 'folders'],
  ['format', 'formats'],
  ['target', 'targets'],
  ['session', 'sessions'],
  ['input', 'sessions'],
  ['paths', 'files'],
])

function wantedAs(name: string, { argChoices }: Pick<Argument | Option, 'argChoices'>): Wanted {
  if (argChoices !== undefined) return { kind: 'choices', words: argChoices }
  return { kind: KINDS.get(name) ?? 'anything' }
}
