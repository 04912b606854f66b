/** The sessions of the archive: found, narrowed down, put in an order, and kept up as agents work. All of it is in the address. */
import './sessions.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { SESSION_SORTS } from '../../../search/session-sorts.ts'
import { useKeys } from '../../keys.ts'
import { href, navigate, setParams } from '../../router.ts'
import type { ViewProps } from '../../shell/views.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorNote, Spinner } from '../../ui/notes.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { Tabs } from '../../ui/tabs.tsx'
import type { VirtualHandle } from '../../ui/virtual.tsx'
import { choosingOf, compareChosen, CompareButton } from './choosing.tsx'
import { Facets } from './facets.tsx'
import { Hits } from './hits.tsx'
import { listOf } from './list.ts'
import { useLiveRows } from './live-rows.ts'
import { chosenCount, hasWords, queryOf, questionOf, type Question } from './question.ts'
import { useSearch } from './search.ts'
import { SessionTable } from './table.tsx'

export function SessionsView({ route }: ViewProps) {
  const { params } = route
  const question = useMemo(() => questionOf(params), [params.toString()])
  const list = listOf(question)
  const choosing = choosingOf(params)
  const table = useRef<VirtualHandle>(null)
  const field = useRef<HTMLInputElement>(null)
  const side = useRef<HTMLElement>(null)
  const [isOpen, setOpen] = useState(false)
  const searching = useSearch(hasWords(question) ? queryOf(question) : undefined)
  useLiveRows(list, () => (table.current?.top() ?? 0) === 0)

  const isSearch = hasWords(question)
  const shown = isSearch && params.get('show') !== 'sessions' ? 'entries' : 'sessions'
  const move = (step: number): void => {
    if (shown === 'entries') return moveHit(step)
    const last = (list.total.peek() ?? 0) - 1
    // Without the focus in the list, the first step goes to the row that is marked.
    const isIn = document.activeElement?.closest('[data-row]') !== null
    list.active = Math.max(0, Math.min(list.active + (isIn || !Number.isFinite(step) ? step : 0), last))
    table.current?.focusRow(list.active)
  }
  useKeys('Sessions', [
    { keys: ['j', 'ArrowDown'], says: 'Next', run: () => move(1) },
    { keys: ['k', 'ArrowUp'], says: 'Previous', run: () => move(-1) },
    { keys: ['PageDown'], run: () => (shown === 'sessions' ? move(15) : false) },
    { keys: ['PageUp'], run: () => (shown === 'sessions' ? move(-15) : false) },
    { keys: ['Home'], says: 'First', run: () => move(-Infinity) },
    { keys: ['End'], says: 'Last', run: () => move(Infinity) },
    { keys: ['Enter', 'o'], says: 'Open', run: () => openFocused(list.rows.peek()[list.active]?.id) },
    {
      keys: ['c'],
      says: 'Choose to compare',
      run() {
        const id = list.rows.peek()[list.active]?.id
        if (shown === 'entries' || id === undefined) return false
        return choosing.turn(id)
      },
    },
    { keys: ['C'], says: 'Compare the two that are chosen', run: () => compareChosen(choosing) },
    { keys: ['/'], says: 'Search', run: () => field.current?.select() },
    {
      keys: ['x'],
      says: 'Filters',
      run() {
        setOpen(true)
        requestAnimationFrame(() => side.current?.querySelector<HTMLElement>('button.chip')?.focus())
      },
    },
    {
      keys: ['Escape'],
      typing: true,
      says: 'Leave the search, then clear it',
      run: () => leave(field.current, question),
    },
  ])

  const chosen = chosenCount(question)
  return (
    <div class="sessions">
      <h1 class="unseen">Sessions</h1>
      <div class="sessions-bar" role="search">
        <SearchField words={question.words} fieldRef={field} />
        <Button class="sessions-filters" isExpanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Filters{chosen > 0 && ` (${chosen})`}
        </Button>
        <CompareButton choosing={choosing} />
        <label class="sessions-sort">
          <span class="quiet">Sort</span>{' '}
          <select
            value={question.sort}
            onChange={({ currentTarget }) =>
              setParams({
                sort: currentTarget.value === 'newest' ? undefined : currentTarget.value,
                reverse: undefined,
              })
            }
          >
            {SESSION_SORTS.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <aside class={`sessions-side ${isOpen ? 'is-open' : ''}`} ref={side} aria-label="Filters">
        <Facets question={question} facets={list.facets.value} />
      </aside>
      <div class="sessions-main">
        {isSearch && (
          <Tabs
            label="What was found"
            selected={shown}
            onSelect={(name) => setParams({ show: name === 'sessions' ? name : undefined })}
            tabs={[
              { name: 'entries', says: entriesTitle(searching.found?.answer) },
              {
                name: 'sessions',
                says: `Titles${list.total.value === undefined ? '' : ` ${exactCount(list.total.value)}`}`,
              },
            ]}
          />
        )}
        {shown === 'entries' ? (
          <div class={`sessions-hits ${searching.isBusy ? 'is-busy' : ''}`} aria-busy={searching.isBusy}>
            {searching.found?.problem && <ErrorNote problem={searching.found.problem} />}
            {searching.found?.answer && <Hits found={searching.found.answer} words={question.words} />}
            {searching.found === undefined && <Spinner says="Searching …" />}
          </div>
        ) : (
          <SessionTable list={list} question={question} handle={table} choosing={choosing} />
        )}
      </div>
    </div>
  )
}

function entriesTitle(
  answer: { readonly hits: readonly unknown[]; readonly total?: number | undefined } | undefined,
): string {
  if (answer === undefined) return 'Entries'
  const { hits, total } = answer
  return `Entries ${total === undefined ? `${exactCount(hits.length)}${hits.length >= 100 ? '+' : ''}` : exactCount(total)}`
}

const TYPING_MS = 150

/** What is typed is in the address, and asked for, once there is a pause. */
function SearchField({
  words,
  fieldRef,
}: {
  readonly words: string
  readonly fieldRef: { current: HTMLInputElement | null }
}) {
  const [typed, setTyped] = useState(words)
  // The address changed by other means: a link, or going back.
  useEffect(() => setTyped(words), [words])
  useEffect(() => {
    if (typed === words) return undefined
    const timer = setTimeout(() => setParams({ q: typed, show: undefined }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <input
      ref={fieldRef}
      class="sessions-field"
      type="search"
      value={typed}
      maxLength={5000}
      spellcheck={false}
      autocomplete="off"
      placeholder='Search: words, "phrases", tool:Bash, has:error, since:7d, cost>1 …'
      aria-label="Search sessions and entries"
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  )
}

function leave(field: HTMLInputElement | null, question: Question): boolean | void {
  if (document.activeElement === field && field !== null) return field.blur()
  if (question.words === '') return false
  setParams({ q: undefined, show: undefined })
}

function moveHit(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('[data-hit]')]
  const at = links.indexOf(document.activeElement as HTMLElement)
  links[Math.max(0, Math.min(at === -1 ? 0 : at + step, links.length - 1))]?.focus()
}

/** A link or button that has the focus takes the key itself. */
function openFocused(id: string | undefined): boolean | void {
  const { activeElement } = document
  if (activeElement instanceof HTMLAnchorElement) return activeElement.click()
  if (activeElement instanceof HTMLButtonElement || id === undefined) return false
  navigate({ view: 'session', id })
}

export const sessionsHref = (params: Readonly<Record<string, string>>): string =>
  href({ view: 'sessions', params })
