/** The page's beginning: puts the application where the document has a place for it. */
import './styles/theme.css'
import './styles/base.css'
import './styles/ui.css'
import './styles/shell.css'
import { render } from 'preact'
import { Shell } from './shell/shell.tsx'

const place = document.getElementById('app')
if (place !== null) render(<Shell />, place)
