/** Completion for bash, from 3.2 on. Words from the archive are never given to the shell to expand. */
import type { CompletedCommand, Wanted } from './words.ts'

export function toBash(commands: readonly CompletedCommand[]): string {
  return `# Completion of hansard for bash. In ~/.bashrc: source <(hansard completion bash)
_hansard() {
  local cur prev cmd word i
  COMPREPLY=()
  cur=\${COMP_WORDS[COMP_CWORD]}
  prev=\${COMP_WORDS[COMP_CWORD - 1]}
  # Readline takes --as=md apart at its equals sign.
  if [ "$cur" = '=' ]; then cur=''
  elif [ "$prev" = '=' ]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
${findCommand(commands, { first: 1, end: 'COMP_CWORD', words: 'COMP_WORDS' })}
${choose(commands, (wanted) => {
  if (wanted.kind === 'choices') return `_hansard_words ${quote(wanted.words.join(' '))}`
  if (wanted.kind === 'sessions') return '_hansard_asked sessions; _hansard_files -f'
  if (wanted.kind === 'formats' || wanted.kind === 'targets') return `_hansard_asked ${wanted.kind}`
  if (wanted.kind === 'files') return '_hansard_files -f'
  return wanted.kind === 'folders' ? '_hansard_files -d' : ':'
})}
}

_hansard_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_hansard_asked() {
  local line
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(hansard complete "$1" "$cur" 2>/dev/null)
}

_hansard_files() {
  local line
  type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(compgen "$1" -- "$cur")
}

complete -F _hansard hansard
`
}

type Where = { readonly first: number; readonly end: string; readonly words: string }

/** Shell code of bash and zsh: which command has been typed, as `/cost/explain`. */
export function findCommand(commands: readonly CompletedCommand[], { first, end, words }: Where): string {
  const known = commands.filter(({ path }) => path.length > 0).map(({ path }) => quote(toKey(path)))
  return `  cmd=''
  for ((i = ${first}; i < ${end}; i++)); do
    word=\${${words}[i]}
    case "$cmd/$word" in
      ${known.join(' | ')}) cmd="$cmd/$word" ;;
    esac
  done`
}

/** Shell code of bash and zsh: by the command, the word before, and how this one begins. */
export function choose(
  commands: readonly CompletedCommand[],
  toCode: (wanted: Wanted) => string,
  {
    toWords = (words: readonly Described[]) =>
      `_hansard_words ${quote(words.map(({ name }) => name).join(' '))}`,
  } = {},
): string {
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ names, value }) =>
      value === undefined
        ? []
        : [
            `    ${names.map((name) => quote(`${toKey(path)} ${name}`)).join(' | ')}) ${toCode(value)}; return ;;`,
          ],
    ),
  )
  const flags = commands.map(({ path, options }) => {
    const words = options.flatMap(({ names, description }) => names.map((name) => ({ name, description })))
    return `    ${quote(`${toKey(path)} `)}-*) ${toWords(words)} ;;`
  })
  const places = commands.map(({ path, commands: below, argument }) => {
    const code = [...(below.length > 0 ? [toWords(below)] : []), ...(argument ? [toCode(argument)] : [])]
    return `    ${quote(`${toKey(path)} `)}*) ${code.length > 0 ? code.join('; ') : ':'} ;;`
  })
  return `  case "$cmd $prev" in
${values.join('\n')}
  esac
  case "$cmd $cur" in
${[...flags, ...places].join('\n')}
  esac`
}

type Described = { readonly name: string; readonly description: string }

const toKey = (path: readonly string[]): string => path.map((name) => `/${name}`).join('')

/** One word of bash and zsh, whatever is in it. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
