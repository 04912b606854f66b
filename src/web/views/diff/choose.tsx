/** What to compare a session with: those of the same project before it, what is searched for, or an id that is pasted. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionRow } from '../../../server/api-model.ts'
import { ask } from '../../api.ts'
import { field } from '../../charts/asked.ts'
import { Given, Panel } from '../../charts/panel.tsx'
import { useKeys } from '../../keys.ts'
import { href, navigate, route, setParams, type To } from '../../router.ts'
import { useAnswer } from '../../state/answer.ts'
import { oneLine, titleLine, visible } from '../../text/visible.ts'
import { Duration, Time } from '../../ui/amounts.tsx'
import { EmptyState } from '../../ui/notes.tsx'
import { StatusMark } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'

const MOST = 50
const TYPING_MS = 150

export function ChooseFor({ a }: { readonly a: string }) {
  const asked = useAnswer(`session ${a}`, (options) => ask.session(a, options))
  return <Given asked={asked}>{({ row }) => <Choose row={row} />}</Given>
}

/** `row`: what it is compared with; without it the first is chosen. */
export function Choose({ row }: { readonly row: SessionRow | undefined }) {
  const input = useRef<HTMLInputElement>(null)
  const typed = route.value.params.get('q') ?? ''
  const [words, setWords] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => words !== typed && setParams({ q: words }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [words])
  const own = typed === '' && row?.project !== undefined ? field('project', row.project) : typed
  const asked = useAnswer(`choose ${own}`, (options) =>
    ask.sessions({ q: own, limit: String(MOST) }, options),
  )
  const move = (step: 1 | -1): void => {
    const links = [...document.querySelectorAll<HTMLElement>('.choose a')]
    const at = links.indexOf(document.activeElement as HTMLElement)
    links[Math.max(0, Math.min(at + step, links.length - 1))]?.focus()
  }
  useKeys('Compare', [
    {
      keys: ['j', 'ArrowDown'],
      says: 'Next',
      typing: true,
      run: (event) => (event.key === 'j' && isTyping() ? false : move(1)),
    },
    { keys: ['k', 'ArrowUp'], says: 'Previous', run: () => move(-1) },
    { keys: ['/'], says: 'Search', run: () => input.current?.select() },
  ])
  const to = (id: string): To => ({
    view: 'diff',
    params: row === undefined ? { a: id } : { a: row.id, b: id },
  })
  const isId = /^[\w.-]{4,200}$/.test(words.trim()) && /\d/.test(words)
  return (
    <div class="page diff-page">
      <h1>{row === undefined ? 'Compare two sessions' : 'Compare with …'}</h1>
      {row !== undefined && (
        <p class="foreign">
          <span class="diff-name">A</span>{' '}
          <a href={href({ view: 'session', id: row.id })}>
            <Visible text={titleOf(row)} />
          </a>
        </p>
      )}
      <input
        ref={input}
        class="choose-field"
        type="search"
        value={words}
        maxLength={5000}
        spellcheck={false}
        autocomplete="off"
        aria-label="Search sessions, or paste an id"
        placeholder="Search sessions, or paste an id"
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && isId) navigate(to(words.trim()))
        }}
      />
      {isId && (
        <p>
          <a href={href(to(words.trim()))}>Compare with the session {visible(oneLine(words, 60))}</a>
        </p>
      )}
      <Panel
        title={
          typed === '' && row?.project !== undefined
            ? `Sessions of ${visible(oneLine(row.project, 60))}`
            : 'Sessions'
        }
        isBusy={asked.isBusy}
      >
        <Given asked={asked}>
          {({ sessions }) => {
            const others = inOrder(
              sessions.filter(({ id }) => id !== row?.id),
              row,
            )
            if (others.length === 0) return <EmptyState title="No other session matches" />
            return (
              <ol class="choose">
                {others.map((one) => (
                  <li key={one.id}>
                    <a class="foreign" href={href(to(one.id))}>
                      <Visible text={titleOf(one)} />
                    </a>
                    <span class="quiet choose-about">
                      <StatusMark status={one.status} />
                      <span class="foreign">
                        <Visible text={oneLine(one.agent ?? '', 40)} />
                      </span>
                      <Time at={one.startedAt} />
                      <Duration ms={one.durationMs} />
                    </span>
                  </li>
                ))}
              </ol>
            )
          }}
        </Given>
      </Panel>
    </div>
  )
}

const isTyping = (): boolean => document.activeElement instanceof HTMLInputElement

/** Those that began before it first, the latest of them on top. */
function inOrder(rows: readonly SessionRow[], of: SessionRow | undefined): readonly SessionRow[] {
  const when = of?.startedAt
  if (when === undefined) return rows
  const isBefore = ({ startedAt }: SessionRow): boolean => startedAt !== undefined && startedAt <= when
  return [...rows.filter(isBefore), ...rows.filter((row) => !isBefore(row))]
}

function titleOf({ title, prompt, id }: SessionRow): string {
  const text = titleLine(title ?? prompt ?? '', 160)
  return text === '' ? id : text
}
