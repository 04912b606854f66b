/** The page's beginning: puts the application where the document has a place for it. */
import { render } from 'preact'

const place = document.getElementById('app')
if (place !== null) render(<h1>Hansard</h1>, place)
