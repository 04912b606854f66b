/** What the session is, on two lines: what it was about, and what it came to. */
import type { ComponentChildren } from 'preact'
import type { SessionAnswer } from '../../../server/api.ts'
import { exportUrl, hasSession, isAlone } from '../../api.ts'
import { href } from '../../router.ts'
import { oneLine, titleLine, visible } from '../../text/visible.ts'
import { Count, Duration, Money, Time, Tokens } from '../../ui/amounts.tsx'
import { Menu } from '../../ui/menu.tsx'
import { StatusMark } from '../../ui/status.tsx'

export function Header({ answer, length }: { readonly answer: SessionAnswer; readonly length: number }) {
  const { session, row, children } = answer
  const { parent = session.parent } = row
  const known = children.filter(({ id }) => hasSession(id))
  const title = row.title ?? row.prompt ?? session.title ?? row.id
  return (
    <header class="session-head">
      <div class="session-title">
        {!isAlone && (
          <a class="session-back" href={href({ view: 'sessions' })} aria-label="All sessions">
            ←
          </a>
        )}
        <h1 title={visible(oneLine(title, 1000))}>{visible(titleLine(title, 300))}</h1>
        {!isAlone && (
          <a
            class="button"
            href={href({ view: 'insight', id: row.id })}
            title="Its context over time, its tools, what it did in vain"
          >
            Insight
          </a>
        )}
        {!isAlone && (
          <a
            class="button"
            href={href({ view: 'diff', params: { a: row.id } })}
            title="Beside another session: where they part (C)"
          >
            Compare
          </a>
        )}
        {!isAlone && <Export id={row.id} />}
      </div>
      {/* On a narrow page it scrolls, and the keyboard has to get there. */}
      <ul class="session-facts" aria-label="About this session" tabIndex={0}>
        <li>
          <StatusMark status={row.status} />
        </li>
        <Text name="Agent" text={row.agent} />
        <Text name="Model" text={row.models.length === 0 ? session.model : row.models.join(', ')} />
        <Text name="Project" text={row.project} title={row.cwd} />
        <Text name="Branch" text={row.branch} />
        <Fact name="Started">
          <Time at={row.startedAt} />
        </Fact>
        <Fact name="Took">
          <Duration ms={row.durationMs} />
        </Fact>
        <Fact name="Entries">
          <Count count={length} what="entries" />
        </Fact>
        <Fact name="Tokens">
          <Tokens usage={row.usage} uncounted={row.uncounted} />
        </Fact>
        <Fact name="Cost">
          <Money cost={row.cost} usage={row.usage} uncounted={row.uncounted} />
        </Fact>
        {row.reportedCost !== undefined && (
          <Fact name="Reported">
            <span title="as the agent's log states it">${visible(oneLine(row.reportedCost, 20))}</span>
          </Fact>
        )}
        {answer.damage !== undefined && (
          <li>
            <span class="chip is-bad">{answer.damage} damaged</span>
          </li>
        )}
        {parent !== undefined && !isAlone && (
          <li>
            <a href={href({ view: 'session', id: parent.session })}>
              {parent.relation ?? 'started'} by another session
            </a>
          </li>
        )}
        {known.length > 0 && <Children items={known} />}
      </ul>
      {session.error !== undefined && <p class="entry-error">{visible(oneLine(session.error, 500))}</p>}
    </header>
  )
}

function Text({
  name,
  text,
  title = text,
}: {
  readonly name: string
  readonly text: string | undefined
  readonly title?: string | undefined
}) {
  if (text === undefined || text === '') return null
  return (
    <Fact name={name}>
      <span class="clip" title={visible(oneLine(title ?? text, 500))}>
        {visible(oneLine(text, 80))}
      </span>
    </Fact>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <li>
      <span class="quiet">{name}</span> {children}
    </li>
  )
}

function Children({ items }: { readonly items: SessionAnswer['children'] }) {
  return (
    <li>
      <Menu says={`${items.length} started by it`} kind="plain">
        {items.slice(0, 200).map(({ id, title, status }) => (
          <li key={id}>
            <StatusMark status={status} />{' '}
            <a href={href({ view: 'session', id })}>{visible(titleLine(title ?? id, 80))}</a>
          </li>
        ))}
      </Menu>
    </li>
  )
}

const EXPORTS = [
  ['html', 'One HTML file'],
  ['md', 'Markdown'],
  ['text', 'Text'],
  ['json', 'JSON'],
  ['asciicast', 'Asciicast'],
] as const

function Export({ id }: { readonly id: string }) {
  return (
    <Menu says="Export" isAtEnd>
      {EXPORTS.map(([as, says]) => (
        <li key={as}>
          <a href={exportUrl(id, as)} download>
            {says}
          </a>
        </li>
      ))}
    </Menu>
  )
}
