/**
 * A session: what it is, everything in it, and ways through it. The address holds the entry (`#12`), what is looked for and what is
 * left out, so that a link shows the same.
 */
import '../../styles/text.css'
import './session.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { route as now } from '../../router.ts'
import type { ViewProps } from '../../shell/views.ts'
import { titleLine, visible } from '../../text/visible.ts'
import { EmptyState, ErrorNote, Spinner } from '../../ui/notes.tsx'
import type { VirtualHandle } from '../../ui/virtual.tsx'
import { useFilters } from './filters.ts'
import { createFinding, type Finding } from './finding.ts'
import { useGoing } from './going.ts'
import { Header } from './header.tsx'
import { useMoment } from './moment.ts'
import { Notes } from './notes.tsx'
import { usePlaybackKeys, stepTo } from './playback-keys.ts'
import { Player } from './player.tsx'
import { RawDialog } from './raw-dialog.tsx'
import { createRows, plainRows } from './rows.ts'
import { useSessionKeys } from './session-keys.ts'
import { createShown } from './shown.ts'
import { createSessionStore, type SessionStore } from './store.ts'
import { Toolbar } from './toolbar.tsx'
import { Transcript } from './transcript.tsx'
import { usePlayback } from './use-playback.ts'

/** Sessions up to this long are shown when it is known what each entry is; longer ones at once. */
const WAIT_FOR_OUTLINE = 50_000

export function SessionView({ route }: ViewProps) {
  const { id } = route
  const [own, setOwn] = useState<{ readonly store: SessionStore; readonly finding: Finding }>()
  useEffect(() => {
    if (id === undefined) return undefined
    const created = { store: createSessionStore(id), finding: createFinding(id) }
    setOwn(created)
    return () => {
      created.store.end()
      created.finding.end()
    }
  }, [id])
  if (id === undefined)
    return (
      <EmptyState title="No session is named">
        <p>
          <a href="/">All sessions</a>
        </p>
      </EmptyState>
    )
  if (own?.store.id !== id) return <Loading />
  const { answer, problem } = own.store
  if (answer.value === undefined && problem.value !== undefined)
    return <ErrorNote problem={problem.value} onRetry={own.store.reload} />
  if (answer.value === undefined) return <Loading />
  return <Session key={id} store={own.store} finding={own.finding} />
}

const Loading = () => (
  <div class="shell-loading">
    <Spinner />
  </div>
)

function Session({ store, finding }: { readonly store: SessionStore; readonly finding: Finding }) {
  const { params, position: asked } = now.value
  const [shown] = useState(() => createShown(store.columns))
  const [raw, setRaw] = useState<number>()
  const list = useRef<VirtualHandle>(null)
  const input = useRef<HTMLInputElement>(null)
  const length = store.length.value
  const columns = store.columns.value
  const answer = store.answer.value
  const filters = useFilters(store.id, params)
  const isReady = store.isOutlined.value || length > WAIT_FOR_OUTLINE
  const isMapped = columns.length >= length || (columns.length > 0 && store.isOutlined.value)
  const rows = useMemo(
    () => (isMapped ? createRows(columns, filters.filters, shown.lanes.value, length) : plainRows(length)),
    [isMapped, columns, length, filters.key, shown.lanes.value],
  )
  const isFolding = isMapped && (filters.key !== '' || columns.sources.length > 1)
  const rowsKey = `${filters.key} ${isFolding} ${[...shown.lanes.value].join(' ')}`
  const find = params.get('find') ?? ''
  const title = answer?.row.title ?? answer?.row.prompt
  useEffect(() => {
    if (title !== undefined) document.title = `${visible(titleLine(title, 80))} · Hansard`
  }, [title])
  useEffect(() => {
    const wait = setTimeout(() => void finding.find(find), find === '' ? 0 : 200)
    return () => clearTimeout(wait)
  }, [find])
  useMoment(store)
  const going = useGoing({ store, shown, finding, rows, list, isReady })
  useSessionKeys({ store, shown, going, input, onRaw: setRaw })
  const { playback, isPlayed, onEnter, onLeave } = usePlayback({ store, shown, going, rows, list })
  usePlaybackKeys({ playback, shown, onEnter, onLeave })
  if (answer === undefined) return null
  const isRunning = answer.row.status === 'running'
  const start = asked ?? (isRunning ? length - 1 : undefined)
  const top = shown.selected.value ?? now.value.position ?? start
  return (
    <div class="session">
      <Header answer={answer} length={length} />
      <Toolbar
        id={store.id}
        answer={answer}
        columns={columns}
        finding={finding}
        selected={going.at()}
        onJump={(flag, step) => (isPlayed ? stepTo({ playback, shown }, flag, step) : going.jump(flag, step))}
        onFound={going.onFound}
        isAllOpen={shown.isAllOpen.value}
        onTurnAll={() => shown.turnAll()}
        isPlayed={isPlayed}
        {...(columns.length > 1 && { onPlay: isPlayed ? onLeave : onEnter })}
        input={input}
      />
      {isPlayed && <Player store={store} playback={playback} onLeave={onLeave} />}
      <Notes store={store} />
      {!isReady ? (
        <Loading />
      ) : rows.count === 0 ? (
        <EmptyState title={length === 0 ? 'Nothing was recorded yet' : 'No entry is left by the filter'} />
      ) : (
        <Transcript
          store={store}
          shown={shown}
          rows={rows}
          rowsKey={rowsKey}
          start={top === undefined ? 0 : rows.indexOf(top)}
          find={find}
          list={list}
          playback={playback}
          onTop={(top, last) => isPlayed || going.onTop(top, last)}
          onJump={(position) =>
            isPlayed
              ? (playback.stop(), playback.seek(position))
              : list.current?.scrollTo(rows.indexOf(position), 'start')
          }
          onTurnLane={(source, position) => {
            shown.selected.value = position
            shown.turnLane(source)
          }}
          onRaw={setRaw}
        />
      )}
      {raw !== undefined && (
        <RawDialog
          id={store.id}
          position={raw}
          row={store.pages.get(raw)}
          onClose={() => setRaw(undefined)}
        />
      )}
    </div>
  )
}
