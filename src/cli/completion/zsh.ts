/** Completion for zsh, with what each word means beside it. */
import { choose, findCommand, quote } from './bash.ts'
import type { CompletedCommand } from './words.ts'

export function toZsh(commands: readonly CompletedCommand[]): string {
  const toWords = (words: readonly { readonly name: string; readonly description: string }[]): string =>
    `_hansard_described ${words.map(({ name, description }) => quote(`${name}:${description}`)).join(' ')}`
  return `#compdef hansard
# Completion of hansard for zsh. Into a folder of $fpath: hansard completion zsh > _hansard
_hansard() {
  local cur prev cmd word i
  cur=\${words[CURRENT]}
  prev=\${words[CURRENT - 1]}
  case "$cur" in
    --*=*) prev=\${cur%%=*}; compset -P '*=' ;;
  esac
${findCommand(commands, { first: 2, end: 'CURRENT', words: 'words' })}
${choose(
  commands,
  (wanted) => {
    if (wanted.kind === 'choices') return `compadd -- ${wanted.words.map(quote).join(' ')}`
    if (wanted.kind === 'sessions') return '_hansard_asked sessions; _files'
    if (wanted.kind === 'formats' || wanted.kind === 'targets') return `_hansard_asked ${wanted.kind}`
    if (wanted.kind === 'files') return '_files'
    return wanted.kind === 'folders' ? '_files -/' : ':'
  },
  { toWords },
)}
}

_hansard_described() {
  local -a given
  given=("$@")
  _describe -V hansard given
}

_hansard_asked() {
  local -a given
  local line
  while IFS= read -r line; do
    given+=("\${line/$'\\t'/:}")
  done < <(hansard complete "$1" "$PREFIX" 2>/dev/null)
  _describe -V "$1" given
}

if [ "\${funcstack[1]}" = '_hansard' ]; then _hansard "$@"
else compdef _hansard hansard
fi
`
}
