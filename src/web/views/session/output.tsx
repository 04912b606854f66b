/** What a tool gave back, or any long text that is no Markdown: as a terminal shows it, a part at a time, those out of sight not laid out. */
import { useState } from 'preact/hooks'
import { Ansi } from '../../text/ansi.tsx'
import { Button } from '../../ui/button.tsx'
import { shortBytes } from '../../ui/numbers.ts'

const FIRST = 8000
const PART = 64_000
/** Characters that are put on the page at once: more would keep it from answering. */
const MOST = 4_000_000

export function Output({ text, label }: { readonly text: string; readonly label: string }) {
  const [shown, setShown] = useState(FIRST)
  const end = Math.min(text.length, shown)
  const starts: number[] = []
  for (let at = 0; at < end; at += PART) starts.push(at)
  const rest = text.length - end
  return (
    <div class="output" tabIndex={0} role="group" aria-label={label}>
      {starts.map((from) => (
        <pre key={from}>
          <Ansi text={text.slice(from, Math.min(from + PART, end))} />
        </pre>
      ))}
      {text === '' && <p class="quiet">Nothing</p>}
      {rest > 0 && (
        <p class="output-more">
          <Button onClick={() => setShown(Math.min(shown * 8, shown + MOST))}>Show more</Button>
          {rest <= MOST ? (
            <Button onClick={() => setShown(text.length)}>Show the rest ({shortBytes(rest)})</Button>
          ) : (
            <span class="quiet">{shortBytes(rest)} more</span>
          )}
        </p>
      )}
    </div>
  )
}
