/** The reader of an exported session: the page's own view of a session, without a server. Everything comes from the file it stands in. */
import '../styles/theme.css'
import '../styles/base.css'
import '../styles/ui.css'
import '../styles/shell.css'
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { listenToKeys, useKeys } from '../keys.ts'
import { listenToLinks, route } from '../router.ts'
import { Help } from '../shell/help.tsx'
import { BrandIcon } from '../shell/icons.tsx'
import { ShellTools } from '../shell/tools.tsx'
import { announced } from '../state/announce.ts'
import { nextTheme } from '../state/theme.ts'
import { exactTime } from '../ui/times.ts'
import { SessionView } from '../views/session/view.tsx'
import { MAIN, made as madeBy } from './data.ts'

function Reader() {
  const [isHelp, setHelp] = useState(false)
  useEffect(() => {
    const ends = [listenToLinks(), listenToKeys()]
    return () => {
      for (const end of ends) end()
    }
  }, [])
  useKeys('Everywhere', [
    { keys: ['?'], says: 'Show the keys', run: () => setHelp(true) },
    { keys: ['L'], says: 'Light, dark, or as the system has it', run: nextTheme },
  ])
  const made = Date.parse(madeBy()?.at ?? '')
  return (
    <div class="shell">
      <header class="shell-head">
        <span class="brand">
          <BrandIcon />
          <span class="brand-name">Hansard</span>
        </span>
        <span class="quiet clip">
          Exported{Number.isNaN(made) ? '' : ` ${exactTime(made)}`}, without secrets that were known as such
        </span>
        {route.value.id !== MAIN && <a href="#">Back to the session that was exported</a>}
        <ShellTools onHelp={() => setHelp(true)} />
      </header>
      <main class="shell-main" id="main" tabIndex={-1}>
        <SessionView route={route.value} />
      </main>
      <div class="unseen" aria-live="polite">
        {announced.value}
      </div>
      {isHelp && <Help onClose={() => setHelp(false)} />}
    </div>
  )
}

const place = document.getElementById('app')
if (place !== null) render(<Reader />, place)
