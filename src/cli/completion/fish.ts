/** Completion for fish: a line for each word that may be typed, with what it means. */
import type { CompletedCommand, CompletedOption, Wanted } from './words.ts'

export function toFish(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => {
    const when = quote(`__hansard_at ${command.path.join(' ')}`.trim())
    const below = command.commands.map(
      ({ name, description }) => `complete -c hansard -n ${when} -a ${quote(name)} -d ${quote(description)}`,
    )
    const argument = command.argument ? toValue(command.argument) : ''
    return [
      ...below,
      ...(argument === '' ? [] : [`complete -c hansard -n ${when} ${argument}`]),
      ...command.options.map((option) => `complete -c hansard -n ${when} ${toOption(option)}`),
    ]
  })
  const known = commands.filter(({ path }) => path.length > 0).map(({ path }) => quote(path.join(' ')))
  return `# Completion of hansard for fish: hansard completion fish > ~/.config/fish/completions/hansard.fish
# True where exactly these commands have been typed.
function __hansard_at
    set -l path
    for word in (commandline -opc)[2..-1]
        if contains -- (string join ' ' -- $path $word) ${known.join(' ')}
            set -a path $word
        end
    end
    test "$path" = "$argv"
end

complete -c hansard -f
${lines.join('\n')}
`
}

function toOption({ names, description, value }: CompletedOption): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  const isFile = value?.kind === 'files' || value?.kind === 'sessions'
  return [...flags, ...(value ? [isFile ? '-r' : '-x', toValue(value)] : []), `-d ${quote(description)}`]
    .filter((part) => part !== '')
    .join(' ')
}

function toValue(wanted: Wanted): string {
  if (wanted.kind === 'choices') return `-a ${quote(wanted.words.join(' '))}`
  if (wanted.kind === 'sessions') return `-F -k -a ${quote(asked('sessions'))}`
  if (wanted.kind === 'formats' || wanted.kind === 'targets') return `-a ${quote(asked(wanted.kind))}`
  if (wanted.kind === 'files') return '-F'
  return wanted.kind === 'folders' ? `-a ${quote('(__fish_complete_directories)')}` : ''
}

const asked = (what: string): string => `(hansard complete ${what} (commandline -ct) 2>/dev/null)`

/** One word of fish, in which only the quote and the backslash mean something. */
function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
}
