/**
 * A session: what it is, everything in it, and ways through it. The address holds the entry (`#12`), what is looked for and what is
 * left out, so that a link shows the same.
 */
import '../../styles/text.css'
import './session.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { KindFlag } from '../../../transcript/kinds.ts'
import { isAlone } from '../../api.ts'
import { useKeys } from '../../keys.ts'
import { entryHref, route as now, setParams, setPosition } from '../../router.ts'
import type { ViewProps } from '../../shell/views.ts'
import { announce } from '../../state/announce.ts'
import { titleLine, visible } from '../../text/visible.ts'
import { copyText } from '../../ui/copy.tsx'
import { EmptyState, ErrorNote, Spinner } from '../../ui/notes.tsx'
import type { VirtualHandle } from '../../ui/virtual.tsx'
import { entryMarkdown } from './as-markdown.ts'
import { nextWith } from './columns.ts'
import { isAnswered } from './entry.tsx'
import { useFilters } from './filters.ts'
import { goBeside } from './beside.ts'
import { createFinding, type Finding } from './finding.ts'
import { Header } from './header.tsx'
import { Notes } from './notes.tsx'
import { RawDialog } from './raw-dialog.tsx'
import { headOf, isRecord } from './records.ts'
import { createRows, plainRows } from './rows.ts'
import { createShown, turnRecords } from './shown.ts'
import { createSessionStore, type SessionStore } from './store.ts'
import { Toolbar } from './toolbar.tsx'
import { Transcript } from './transcript.tsx'
import { callOf, nextShown, partsOf } from './ways.ts'

/** Sessions up to this long are shown when it is known what each entry is; longer ones at once. */
const WAIT_FOR_OUTLINE = 50_000
const ADDRESS_MS = 300

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
  const [shown] = useState(createShown)
  const [raw, setRaw] = useState<number>()
  const list = useRef<VirtualHandle>(null)
  const input = useRef<HTMLInputElement>(null)
  /** An entry to go to when it can be: its row is not there yet, or it is not loaded. */
  const going = useRef<number | undefined>(asked)
  /** What was gone to, where that is shown with another entry. */
  const cursor = useRef<{ readonly shown: number; readonly at: number } | undefined>(undefined)
  const lastSet = useRef<number | undefined>(asked)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
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

  const settle = (): void => {
    const position = going.current
    if (position === undefined || list.current === null || rows.count === 0) return
    const index = rows.indexOf(position)
    const { lane } = rows.at(index)
    if (lane !== undefined && !lane.isOpen) return shown.turnLane(lane.source)
    const row = store.pages.get(position)
    list.current.scrollTo(index, 'center')
    if (row === undefined) return
    going.current = undefined
    const head = headOf(row, store.pages)
    if (isRecord(row) && !shown.hasRecords.value) setParams({ records: '1' })
    if (head !== position) {
      cursor.current = { shown: head, at: position }
      shown.setOpen(head, 'event', true)
      return select(head, rows.indexOf(head))
    }
    const call = isAnswered(row, store) ? callOf(store, position) : undefined
    if (call === undefined) return select(position, index)
    // Its answer is shown with it.
    cursor.current = { shown: call.position, at: position }
    shown.setOpen(call.position, `tool ${call.at}`, true)
    select(call.position, rows.indexOf(call.position))
  }
  const select = (position: number, index: number): void => {
    shown.selected.value = position
    setAddress(position)
    list.current?.scrollTo(index, 'center')
    list.current?.focusRow(index)
  }
  const setAddress = (position: number | undefined): void => {
    clearTimeout(timer.current)
    lastSet.current = position
    setPosition(position)
  }
  const goTo = (position: number): void => {
    cursor.current = undefined
    going.current = Math.max(0, Math.min(position, length - 1))
    settle()
  }
  useEffect(() => {
    if (asked !== lastSet.current && asked !== undefined) goTo(asked)
    lastSet.current = asked
  }, [asked])
  useEffect(settle, [store.version.value, rows, isReady])
  useEffect(() => () => clearTimeout(timer.current), [])
  const onTop = (top: number, last: number): void => {
    clearTimeout(timer.current)
    const { value: selected } = shown.selected
    if (going.current !== undefined || (selected !== undefined && selected >= top && selected <= last)) return
    // At the very beginning the address needs no entry.
    const isAtStart = top === 0 && now.value.position === undefined
    if (!isAtStart) timer.current = setTimeout(() => setAddress(top), ADDRESS_MS)
  }
  const current = (): number => shown.selected.value ?? rows.at(list.current?.top() ?? 0).position
  const jump = (flag: KindFlag, step: 1 | -1): void => {
    const { value: selected } = shown.selected
    const from =
      cursor.current !== undefined && cursor.current.shown === selected
        ? cursor.current.at
        : (selected ?? current() - step)
    const next = nextWith(columns, flag, from, step)
    if (next === undefined) announce(step === 1 ? `No ${flag} after this` : `No ${flag} before this`)
    else goTo(next)
  }
  const onFound = (step: 1 | -1): void => {
    const { value: positions } = finding.positions
    const at = cursor.current?.at ?? shown.selected.value ?? -1
    const next =
      step === 1
        ? (positions.find((one) => one > at) ?? positions[0])
        : (positions.findLast((one) => one < at) ?? positions.at(-1))
    if (next !== undefined) goTo(next)
  }
  const move = (step: 1 | -1): void => {
    const from =
      shown.selected.value === undefined
        ? (list.current?.top() ?? 0) - step
        : rows.indexOf(shown.selected.value)
    const next = nextShown(store, shown, rows, from, step)
    if (next === undefined) return
    const { position, lane } = rows.at(next)
    cursor.current = undefined
    if (lane === undefined) shown.selected.value = position
    list.current?.focusRow(next)
    setAddress(position)
  }
  const turn = (): void => {
    const { value: position } = shown.selected
    if (position === undefined) return
    for (const part of partsOf(store, position)) shown.turn(position, part)
  }
  const withSelected = (run: (position: number) => void) => (): void => {
    const { value: position } = shown.selected
    if (position !== undefined) run(position)
  }
  const link = (position: number): void => void copyText(new URL(entryHref(position), location.href).href)
  const markdown = (position: number): void => {
    const row = store.pages.get(position)
    if (row !== undefined) void copyText(entryMarkdown(row, store.pages))
  }
  useKeys('Session', [
    { keys: ['j'], says: 'Next entry', run: () => move(1) },
    { keys: ['k'], says: 'Previous entry', run: () => move(-1) },
    { keys: ['n'], says: 'Next prompt', run: () => jump('prompt', 1) },
    { keys: ['p'], says: 'Previous prompt', run: () => jump('prompt', -1) },
    { keys: ['e'], says: 'Next error', run: () => jump('error', 1) },
    { keys: ['E'], says: 'Previous error', run: () => jump('error', -1) },
    { keys: ['d'], says: 'Next edit', run: () => jump('edit', 1) },
    { keys: ['D'], says: 'Previous edit', run: () => jump('edit', -1) },
    { keys: ['t'], says: 'Next tool call', run: () => jump('tool', 1) },
    { keys: ['T'], says: 'Previous tool call', run: () => jump('tool', -1) },
    { keys: ['o'], says: 'Open or fold the entry', run: turn },
    { keys: ['x'], says: 'Open or fold everything', run: () => shown.turnAll() },
    { keys: ['v'], says: 'Show or hide records', run: turnRecords },
    { keys: ['/'], says: 'Find in this session', run: () => input.current?.focus() },
    { keys: ['c'], says: 'Copy a link to the entry', run: withSelected(link) },
    { keys: ['m'], says: 'Copy the entry as Markdown', run: withSelected(markdown) },
    { keys: ['r'], says: 'The record of the entry', run: withSelected(setRaw) },
    { keys: ['G'], says: 'The newest entry', run: () => goTo(length - 1) },
    { keys: ['g g'], says: 'The first entry', run: () => goTo(0) },
    ...(isAlone
      ? []
      : [
          { keys: [']'], says: 'The next session of the list', run: () => void goBeside(store.id, 1) },
          { keys: ['['], says: 'The session before it', run: () => void goBeside(store.id, -1) },
        ]),
  ])
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
        selected={cursor.current?.at ?? shown.selected.value}
        onJump={jump}
        onFound={onFound}
        isAllOpen={shown.isAllOpen.value}
        onTurnAll={() => shown.turnAll()}
        input={input}
      />
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
          onTop={onTop}
          onJump={(position) => list.current?.scrollTo(rows.indexOf(position), 'start')}
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
