/** A session that an entry started, as a lane that opens in place to how it went; the whole of it is a link away. */
import { useEffect, useState } from 'preact/hooks'
import type { ApiChild } from '../../../server/api.ts'
import { href, navigate } from '../../router.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { Money } from '../../ui/amounts.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorNote, Spinner } from '../../ui/notes.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { StatusMark } from '../../ui/status.tsx'
import { EntryView } from './entry.tsx'
import { PAGE } from './pages.ts'
import { createShown } from './shown.ts'
import { createSessionStore, type SessionStore } from './store.ts'

export function ChildLane({ child }: { readonly child: ApiChild }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div class="lane">
      <div class="lane-head">
        <Button kind="plain" isExpanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span class="fold-sign" aria-hidden="true" />
          <span class="clip">{visible(oneLine(child.title ?? child.id, 120))}</span>
        </Button>
        <span class="quiet">{child.relation ?? 'child'}</span>
        <StatusMark status={child.status} />
        {child.entries !== undefined && (
          <span class="quiet numbers">{exactCount(child.entries)} entries</span>
        )}
        {child.cost !== undefined && <Money cost={child.cost} />}
        <a href={href({ view: 'session', id: child.id })}>Open</a>
      </div>
      {isOpen && <ChildEntries id={child.id} />}
    </div>
  )
}

function ChildEntries({ id }: { readonly id: string }) {
  const [store, setStore] = useState<SessionStore>()
  const [shown] = useState(createShown)
  useEffect(() => {
    const created = createSessionStore(id)
    created.pages.want([0])
    setStore(created)
    return () => created.end()
  }, [id])
  void store?.version.value
  const problem = store?.problem.value
  if (problem !== undefined) return <ErrorNote problem={problem} />
  if (store === undefined || store.pages.get(0) === undefined) return <Spinner />
  const length = store.length.value
  const rows = Array.from({ length: Math.min(PAGE, length) }, (_, at) => store.pages.get(at))
  return (
    <div class="lane-body">
      {rows.map(
        (row, at) =>
          row !== undefined && (
            <EntryView
              key={at}
              row={row}
              before={rows[at - 1]}
              source={undefined}
              store={store}
              shown={shown}
              onRaw={() => navigate({ view: 'session', id, position: at })}
            />
          ),
      )}
      {length > PAGE && (
        <p>
          <a href={href({ view: 'session', id, position: PAGE })}>{exactCount(length - PAGE)} more entries</a>
        </p>
      )}
    </div>
  )
}
