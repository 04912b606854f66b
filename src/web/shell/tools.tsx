/** How the page looks and which keys it has, at the end of its head: for every view, and for an exported session. */
import { nextTheme, theme } from '../state/theme.ts'
import { Button } from '../ui/button.tsx'
import { KeyboardIcon, ThemeIcon } from './icons.tsx'

export function ShellTools({ onHelp }: { readonly onHelp: () => void }) {
  return (
    <div class="shell-tools">
      <Button kind="icon" label={`Theme: ${theme.value}`} onClick={nextTheme}>
        <ThemeIcon theme={theme.value} />
      </Button>
      <Button kind="icon" label="Keys" onClick={onHelp}>
        <KeyboardIcon />
      </Button>
    </div>
  )
}
