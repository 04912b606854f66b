/** What is long comes cut; the whole of an entry is fetched when somebody asks for it. */
import { useState } from 'preact/hooks'
import type { EntryRow } from '../../../server/api.ts'
import type { Problem } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorNote, Spinner } from '../../ui/notes.tsx'
import { shortBytes } from '../../ui/numbers.ts'
import type { SessionStore } from './store.ts'

export function ShowAll({
  row,
  at,
  store,
}: {
  readonly row: EntryRow
  readonly at: number
  readonly store: SessionStore
}) {
  const [isLoading, setLoading] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const bytes = Object.entries(row.cut ?? {}).reduce(
    (sum, [path, size]) => sum + (path.startsWith(`blocks.${at}.`) ? size : 0),
    0,
  )
  if (bytes === 0) return null
  const load = async (): Promise<void> => {
    setLoading(true)
    setProblem(await store.pages.whole(row.position))
    setLoading(false)
  }
  if (isLoading) return <Spinner says={`Loading ${shortBytes(bytes)} …`} />
  return (
    <>
      <Button class="more" onClick={() => void load()}>
        Show all ({shortBytes(bytes)})
      </Button>
      {problem !== undefined && <ErrorNote problem={problem} />}
    </>
  )
}
