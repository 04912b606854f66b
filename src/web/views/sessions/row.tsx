/** A session as a row of the list: cells of a table on a wide page, a card on a narrow one. Its texts are all foreign. */
import type { SessionRow } from '../../../server/api-model.ts'
import { href } from '../../router.ts'
import { oneLine, titleLine, visible } from '../../text/visible.ts'
import { Duration, Money, Time, Tokens } from '../../ui/amounts.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { Sparkline } from '../../ui/sparkline.tsx'
import { StatusMark } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'

/** On a narrower page agent, model and project stand together under the title. */
export const ABOUT = ['Agent', 'Model', 'Project'] as const
export const COLUMNS = [
  { name: 'Status' },
  { name: 'When', sort: 'newest' },
  { name: 'Duration', sort: 'duration' },
  { name: 'Cost', sort: 'cost' },
  { name: 'Tokens', sort: 'tokens' },
  { name: 'Activity' },
] as const

export type RowProps = {
  readonly row: SessionRow
  readonly isActive: boolean
  readonly isFresh: boolean
  readonly onFocus: () => void
  /** Whether it is chosen to be compared, where that can be. */
  readonly isChosen?: boolean
  readonly onChoose?: () => void
}

export function Row({ row, isActive, isFresh, onFocus, isChosen, onChoose }: RowProps) {
  const { models, project, cwd, branch, usage, uncounted } = row
  return (
    <>
      <span class="cell cell-title" role="cell">
        {isChosen !== undefined && (
          <input
            type="checkbox"
            class="cell-choose"
            checked={isChosen}
            aria-label={`Compare ${visible(oneLine(titleOf(row), 80))}`}
            tabIndex={isActive ? 0 : -1}
            onChange={onChoose}
          />
        )}
        {isFresh && <span class="fresh" role="img" aria-label="new" title="New since the page was opened" />}
        <a
          class="clip foreign"
          href={href({ view: 'session', id: row.id })}
          data-focus
          tabIndex={isActive ? 0 : -1}
          onFocus={onFocus}
          title={visible(oneLine(row.prompt ?? row.title ?? row.id))}
        >
          {row.parent && <span aria-hidden="true">↳ </span>}
          <Visible text={titleOf(row)} />
        </a>
        <Marks row={row} />
      </span>
      <span class="cell-about" role="presentation">
        <Text role="agent" text={row.agent} what="agent not known" />
        <Text role="model" text={models.join(', ')} what="model not known" />
        <Text
          role="project"
          text={project === undefined || branch === undefined ? project : `${project} · ${branch}`}
          title={cwd}
          what="project not known"
        />
      </span>
      <span class="cell cell-status" role="cell">
        <StatusMark status={row.status} />
      </span>
      <span class="cell cell-when" role="cell">
        <Time at={row.startedAt} />
      </span>
      <span class="cell cell-duration" role="cell">
        <Duration ms={row.durationMs} />
      </span>
      <span class="cell cell-cost" role="cell">
        <Money cost={row.cost} usage={usage} uncounted={uncounted} />
      </span>
      <span class="cell cell-tokens" role="cell">
        <Tokens usage={usage} uncounted={uncounted} />
        <span class="card-only"> tokens</span>
      </span>
      <span class="cell cell-activity" role="cell">
        {row.activity && (
          <Sparkline
            counts={row.activity.counts}
            label={row.entries === undefined ? 'activity' : `${exactCount(row.entries)} entries over time`}
          />
        )}
      </span>
    </>
  )
}

export function titleOf({ title, prompt, id }: SessionRow): string {
  const text = titleLine(title ?? prompt ?? '')
  return text === '' ? id : text
}

/** What one would look into first. */
function Marks({ row }: { readonly row: SessionRow }) {
  const { toolsFailed = 0, errors = 0, stub, flow, step } = row
  const place = [flow, step].filter((part) => part !== undefined).join(' / ')
  const wrong =
    errors > 0 ? count(errors, 'error') : toolsFailed > 0 ? `${exactCount(toolsFailed)} failed` : undefined
  return (
    <>
      {place !== '' && (
        <span class="mark is-step clip foreign" title={visible(oneLine(`step of ${row.run ?? 'a run'}`))}>
          <Visible text={oneLine(place, 60)} />
        </span>
      )}
      {stub && <span class="mark">stub</span>}
      {wrong !== undefined && (
        <span
          class="mark is-bad"
          title={`${count(errors, 'entry', 'entries')} with errors, ${count(toolsFailed, 'tool call')} failed`}
        >
          {wrong}
        </span>
      )}
    </>
  )
}

const count = (number: number, one: string, many = `${one}s`): string =>
  `${exactCount(number)} ${number === 1 ? one : many}`

type TextProps = {
  readonly role: string
  readonly text: string | undefined
  readonly title?: string | undefined
  readonly what: string
}

function Text({ role, text, title, what }: TextProps) {
  const shown = oneLine(text ?? '', 120)
  return (
    <span class={`cell cell-${role}`} role="cell">
      {shown === '' ? (
        <span class="unseen">{what}</span>
      ) : (
        <span class="clip foreign" title={visible(oneLine(title ?? text ?? ''))}>
          <Visible text={shown} />
        </span>
      )}
    </span>
  )
}
