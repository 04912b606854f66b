/** What one looks for in a session: words, kinds of entries, the next of something. */
import type { Ref } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { SessionAnswer } from '../../../server/api.ts'
import type { KindFlag } from '../../../transcript/kinds.ts'
import { ask } from '../../api.ts'
import { route, setParams } from '../../router.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Chip } from '../../ui/chip.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { countWith, isAllRecords, type Columns } from './columns.ts'
import { turnRecords } from './shown.ts'
import type { Finding } from './finding.ts'

export type ToolbarProps = {
  readonly id: string
  readonly answer: SessionAnswer
  readonly columns: Columns
  readonly finding: Finding
  readonly selected: number | undefined
  readonly onJump: (flag: KindFlag, step: 1 | -1) => void
  readonly onFound: (step: 1 | -1) => void
  readonly isAllOpen: boolean
  readonly onTurnAll: () => void
  /** Absent where there is nothing to play. */
  readonly onPlay?: () => void
  readonly isPlayed: boolean
  readonly input: Ref<HTMLInputElement>
}

const ROLES = [
  ['user', 'You'],
  ['assistant', 'Assistant'],
  ['tool', 'Tools'],
  ['system', 'System'],
  ['event', 'Events'],
] as const
const JUMPS: readonly (readonly [KindFlag, string, string])[] = [
  ['prompt', 'prompt', 'n p'],
  ['error', 'error', 'e E'],
  ['edit', 'edit', 'd D'],
  ['tool', 'tool', 't T'],
]

export function Toolbar(props: ToolbarProps) {
  const [isFilter, setFilter] = useState(
    ['role', 'only', 'source', 'tool'].some((name) => route.value.params.has(name)),
  )
  const { columns, onJump } = props
  return (
    <div class="session-tools">
      <div class="session-toolbar" role="toolbar" aria-label="Find and jump">
        <Find {...props} />
        {JUMPS.map(([flag, says, keys]) => {
          const count = countWith(columns, flag)
          return (
            <span key={flag} class="jump">
              <Button
                kind="plain"
                disabled={count === 0}
                label={`Previous ${says} (${keys.slice(2)})`}
                onClick={() => onJump(flag, -1)}
              >
                ‹
              </Button>
              <span class={count > 0 && flag === 'error' ? 'is-bad' : ''}>
                {exactCount(count)} {count === 1 ? says : `${says}s`}
              </span>
              <Button
                kind="plain"
                disabled={count === 0}
                label={`Next ${says} (${keys.slice(0, 1)})`}
                onClick={() => onJump(flag, 1)}
              >
                ›
              </Button>
            </span>
          )
        })}
        <span class="session-toolbar-end">
          {props.onPlay && (
            <Button
              kind="plain"
              isPressed={props.isPlayed}
              onClick={props.onPlay}
              title="Entries appear as they came (P)"
            >
              <span aria-hidden="true">▶</span> Play
            </Button>
          )}
          {mayHaveRecords(columns) && (
            <Button
              kind="plain"
              isPressed={route.value.params.has('records')}
              onClick={turnRecords}
              title="What the program wrote down about itself: counts, settings, marks (v)"
            >
              Records
            </Button>
          )}
          <Button kind="plain" isExpanded={isFilter} onClick={() => setFilter(!isFilter)}>
            Filter
          </Button>
          <Button kind="plain" onClick={props.onTurnAll} title="Open or fold everything (x)">
            {props.isAllOpen ? 'Fold all' : 'Open all'}
          </Button>
        </span>
      </div>
      {isFilter && <Filter {...props} />}
    </div>
  )
}

/** Entries that nobody said and nothing is known of at a glance; where all are such, they are shown anyway. */
const mayHaveRecords = (columns: Columns): boolean => columns.counts.has(0) && !isAllRecords(columns)

function Find({ finding, selected, onFound, input }: ToolbarProps) {
  const { positions, isBusy, isMore, query, problem } = finding
  const asked = route.value.params.get('find') ?? ''
  const place = positions.value.findIndex((position) => position === selected)
  const says = isBusy.value
    ? 'looking …'
    : query.value === ''
      ? ''
      : problem.value !== undefined
        ? oneLine(problem.value.message, 80)
        : positions.value.length === 0
          ? 'nothing found'
          : `${place === -1 ? '' : `${place + 1} of `}${exactCount(positions.value.length)}${isMore.value ? '+' : ''}`
  return (
    <span class="find" role="search">
      <input
        type="search"
        aria-label="Find in this session"
        placeholder="Find in session"
        value={asked}
        ref={input}
        onInput={(event) => setParams({ find: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault()
            onFound(event.shiftKey ? -1 : 1)
          } else if (event.key === 'Escape') event.currentTarget.blur()
        }}
      />
      <span class="quiet numbers find-says" role="status">
        {visible(says)}
      </span>
    </span>
  )
}

function Filter({ id, answer }: ToolbarProps) {
  const { params } = route.value
  const [tools, setTools] = useState<readonly { readonly tool: string; readonly calls: number }[]>([])
  useEffect(() => {
    const abort = new AbortController()
    void ask.insight(id, { signal: abort.signal }).then((found) => found.ok && setTools(found.value.tools))
    return () => abort.abort()
  }, [id])
  const toggle = (name: string, value: string): void => {
    const values = params.getAll(name)
    setParams({ [name]: values.includes(value) ? values.filter((one) => one !== value) : [...values, value] })
  }
  return (
    <div class="session-filter" role="group" aria-label="Filter">
      {ROLES.map(([role, says]) => (
        <Chip
          key={role}
          isPressed={params.getAll('role').includes(role)}
          onPress={() => toggle('role', role)}
        >
          {says}
        </Chip>
      ))}
      <span class="quiet">only</span>
      {(['error', 'edit', 'prompt', 'thinking'] as const).map((flag) => (
        <Chip
          key={flag}
          isPressed={params.getAll('only').includes(flag)}
          onPress={() => toggle('only', flag)}
        >
          {flag === 'thinking' ? flag : `${flag}s`}
        </Chip>
      ))}
      {answer.sources.length > 1 && (
        <Choice
          name="source"
          all="all sources"
          options={answer.sources.map(({ source, entries }) => [
            source,
            `${source} (${exactCount(entries)})`,
          ])}
        />
      )}
      {tools.length > 0 && (
        <Choice
          name="tool"
          all="all tools"
          options={tools.slice(0, 500).map(({ tool, calls }) => [tool, `${tool} (${exactCount(calls)})`])}
        />
      )}
    </div>
  )
}

function Choice({
  name,
  all,
  options,
}: {
  readonly name: string
  readonly all: string
  readonly options: readonly (readonly [string, string])[]
}) {
  return (
    <select
      aria-label={`Filter by ${name}`}
      value={route.value.params.get(name) ?? ''}
      onChange={(event) => setParams({ [name]: event.currentTarget.value })}
    >
      <option value="">{all}</option>
      {options.map(([value, says]) => (
        <option key={value} value={value}>
          {visible(oneLine(says, 80))}
        </option>
      ))}
    </select>
  )
}
