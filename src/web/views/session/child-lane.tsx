/** What an entry started, as a lane that opens in place: a subagent of the session, or a session of its own. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { signal } from '@preact/signals'
import type { ApiChild } from '../../../server/api.ts'
import { hasSession, type Problem } from '../../api.ts'
import { href } from '../../router.ts'
import { titleLine, visible } from '../../text/visible.ts'
import { Money } from '../../ui/amounts.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorNote, Spinner } from '../../ui/notes.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { StatusMark } from '../../ui/status.tsx'
import { EntryView } from './entry.tsx'
import { LaneSums } from './lane-row.tsx'
import { createPages } from './pages.ts'
import { RawDialog } from './raw-dialog.tsx'
import { createShown } from './shown.ts'
import { MOST_IN_PLACE, type Spawned } from './spawned.ts'
import { createSessionStore, type SessionStore } from './store.ts'

/** A session that an entry started. */
export function ChildLane({ child }: { readonly child: ApiChild }) {
  const more = (
    <>
      <span class="quiet">{child.relation ?? 'child'}</span>
      <StatusMark status={child.status} />
      {child.entries !== undefined && (
        <span class="quiet numbers">
          {exactCount(child.entries)} {child.entries === 1 ? 'entry' : 'entries'}
        </span>
      )}
      {child.cost !== undefined && (
        <Money cost={child.cost} usage={child.usage} uncounted={child.uncounted} />
      )}
    </>
  )
  const says = child.title ?? child.id
  if (!hasSession(child.id))
    return (
      <div class="lane">
        <div class="lane-head">
          <span class="clip">{visible(titleLine(says, 120))}</span>
          {more}
          <span class="quiet">not in this file: it is too large</span>
        </div>
      </div>
    )
  return (
    <Lane
      says={says}
      more={
        <>
          {more}
          <a href={href({ view: 'session', id: child.id })}>Open</a>
        </>
      }
    >
      {() => <ChildEntries id={child.id} />}
    </Lane>
  )
}

/** A subagent that a call started. */
export function SubagentLane({
  store,
  spawned,
}: {
  readonly store: SessionStore
  readonly spawned: Spawned
}) {
  const { source, count } = spawned
  return (
    <Lane
      says={`Subagent ${source.replace(/^subagent:/, '')}`}
      more={<LaneSums columns={store.columns.value} of={{ source }} count={count} />}
    >
      {() => <SubagentEntries store={store} spawned={spawned} />}
    </Lane>
  )
}

function Lane({
  says,
  more,
  children,
}: {
  readonly says: string
  readonly more: ComponentChildren
  readonly children: () => ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div class="lane">
      <div class="lane-head">
        <Button kind="plain" class="lane-button" isExpanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span class="fold-sign" aria-hidden="true" />
          <span class="clip">{visible(titleLine(says, 120))}</span>
        </Button>
        {more}
      </div>
      {isOpen && <div class="lane-body">{children()}</div>}
    </div>
  )
}

function ChildEntries({ id }: { readonly id: string }) {
  const [store, setStore] = useState<SessionStore>()
  useEffect(() => {
    const created = createSessionStore(id)
    setStore(created)
    return () => created.end()
  }, [id])
  const length = store?.length.value ?? 0
  useEffect(() => store?.pages.want([0, Math.max(0, Math.min(MOST_IN_PLACE, length) - 1)]), [store, length])
  const problem = store?.problem.value
  if (problem !== undefined) return <ErrorNote problem={problem} />
  if (store === undefined) return <Spinner />
  const positions = Array.from({ length: Math.min(MOST_IN_PLACE, length) }, (_, at) => at)
  return <Entries store={store} positions={positions} count={length} />
}

/** With pages of its own: those of the transcript are what is in sight there. */
function SubagentEntries({ store, spawned }: { readonly store: SessionStore; readonly spawned: Spawned }) {
  const [own, setOwn] = useState<SessionStore>()
  const [problem, setProblem] = useState<Problem>()
  const { positions, count } = spawned
  useEffect(() => {
    const version = signal(0)
    const pages = createPages(store.id, {
      onChange: () => void (version.value += 1),
      onProblem: setProblem,
      onLength: () => {},
      most: () => store.length.value,
    })
    setOwn({ ...store, pages, version })
    return () => pages.end()
  }, [store])
  useEffect(() => own?.pages.want(positions), [own, count])
  if (problem !== undefined) return <ErrorNote problem={problem} />
  return own === undefined ? <Spinner /> : <Entries store={own} positions={positions} count={count} />
}

type EntriesProps = {
  readonly store: SessionStore
  readonly positions: readonly number[]
  readonly count: number
}

function Entries({ store, positions, count }: EntriesProps) {
  const [shown] = useState(() => createShown(store.columns))
  const [raw, setRaw] = useState<number>()
  void store.version.value
  const rows = positions.flatMap((position) => store.pages.get(position) ?? [])
  if (rows.length === 0) return <Spinner />
  const { id } = store
  return (
    <>
      {rows.map((row, at) => (
        <EntryView
          key={row.position}
          row={row}
          before={rows[at - 1]}
          source={undefined}
          store={store}
          shown={shown}
          onRaw={setRaw}
        />
      ))}
      {raw !== undefined && (
        <RawDialog id={id} position={raw} row={store.pages.get(raw)} onClose={() => setRaw(undefined)} />
      )}
      {count > positions.length && (
        <p class="lane-more">
          <a href={href({ view: 'session', id, position: (positions.at(-1) ?? 0) + 1 })}>
            {exactCount(count - positions.length)} more entries
          </a>
        </p>
      )}
    </>
  )
}
