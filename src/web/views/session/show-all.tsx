/** What is long comes cut; the whole of an entry is fetched when somebody asks for it, and what is too long for that in parts. */
import { useState } from 'preact/hooks'
import type { EntryRow } from '../../../server/api.ts'
import type { Problem } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorNote, Spinner } from '../../ui/notes.tsx'
import { shortBytes } from '../../ui/numbers.ts'
import { LongText } from './long-text.tsx'
import type { SessionStore } from './store.ts'

/** Bytes of an entry that a page takes in without a pause that is noticed. */
const AT_ONCE = 4_000_000
/** Texts of one block that are offered in parts. */
const MOST_TEXTS = 20

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
  const cuts = Object.entries(row.cut ?? {})
  const own = cuts.filter(([path]) => path === `blocks.${at}` || path.startsWith(`blocks.${at}.`))
  if (own.length === 0) return null
  const sum = (some: typeof cuts): number => some.reduce((bytes, [, size]) => bytes + size, 0)
  if (sum(cuts) > AT_ONCE)
    return (
      <>
        {own.slice(0, MOST_TEXTS).map(([path, bytes]) => (
          <LongText key={path} id={store.id} position={row.position} path={path} bytes={bytes} />
        ))}
      </>
    )
  const load = async (): Promise<void> => {
    setLoading(true)
    setProblem(await store.pages.whole(row.position))
    setLoading(false)
  }
  const size = shortBytes(sum(own))
  if (isLoading) return <Spinner says={`Loading ${size} …`} />
  return (
    <>
      <Button class="more" onClick={() => void load()}>
        Show all ({size})
      </Button>
      {problem !== undefined && <ErrorNote problem={problem} />}
    </>
  )
}
