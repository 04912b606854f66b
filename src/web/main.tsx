/** The page's beginning: puts the application where the document has a place for it. */
import './styles/theme.css'
import './styles/base.css'
import './styles/ui.css'
import './styles/shell.css'
import { render } from 'preact'
import { enter } from './enter.ts'
import { askEarly } from './api.ts'
import { route } from './router.ts'
import { Shell } from './shell/shell.tsx'
import { LOAD } from './shell/views.ts'

await enter()

// What the address asks for is on its way while the rest begins. Whether it comes, whoever shows it finds out.
const { view, id, params } = route.value
LOAD[view]().catch(() => {})
if (view === 'sessions' && params.size === 0) askEarly.sessions()
if (view === 'session' && id !== undefined) askEarly.session(id)

const place = document.getElementById('app')
if (place !== null) render(<Shell />, place)
