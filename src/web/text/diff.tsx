/** Lines that went and came, told apart by a sign as well as by colour. Long ones come a part at a time. */
import { useState } from 'preact/hooks'
import { Button } from '../ui/button.tsx'
import { exactCount } from '../ui/numbers.ts'
import { Visible } from '../ui/visible.tsx'
import type { DiffMark, DiffRow } from './diff.ts'

const MOST_ROWS = 200

export function Diff({ rows, label }: { readonly rows: readonly DiffRow[]; readonly label: string }) {
  const [most, setMost] = useState(MOST_ROWS)
  return (
    <div class="diff" role="group" aria-label={label} tabIndex={0}>
      {rows.slice(0, most).map((row, at) => (
        <Row key={at} row={row} />
      ))}
      {rows.length > most && (
        <Button class="more" onClick={() => setMost(most * 4)}>
          Show more lines ({exactCount(rows.length - most)})
        </Button>
      )}
    </div>
  )
}

const SIGNS = { same: ' ', gone: '−', new: '+' } as const
const SAYS = { same: '', gone: 'removed: ', new: 'added: ' } as const

function Row({ row }: { readonly row: DiffRow }) {
  if (row.kind === 'skip') return <div class="diff-note">⋯ {exactCount(row.count)} lines are the same</div>
  if (row.kind === 'note')
    return (
      <div class="diff-note">
        <Visible text={row.text} />
      </div>
    )
  return (
    <div class={`diff-row is-${row.kind}`}>
      <span class="diff-sign" aria-hidden="true">
        {SIGNS[row.kind]}
      </span>
      <span class="diff-text">
        {row.kind !== 'same' && <span class="unseen">{SAYS[row.kind]}</span>}
        {row.marks === undefined ? <Visible text={row.text} /> : <Marked text={row.text} marks={row.marks} />}
      </span>
    </div>
  )
}

function Marked({ text, marks }: { readonly text: string; readonly marks: readonly DiffMark[] }) {
  const parts: { readonly text: string; readonly isMark: boolean }[] = []
  let at = 0
  for (const { start, end } of marks) {
    if (start > at) parts.push({ text: text.slice(at, start), isMark: false })
    parts.push({ text: text.slice(start, end), isMark: true })
    at = end
  }
  if (at < text.length) parts.push({ text: text.slice(at), isMark: false })
  return (
    <>
      {parts.map(({ text: part, isMark }, at) =>
        isMark ? (
          <span key={at} class="diff-mark">
            <Visible text={part} />
          </span>
        ) : (
          <Visible key={at} text={part} />
        ),
      )}
    </>
  )
}
