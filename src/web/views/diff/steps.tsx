/** Every step that differs, in the order of reading; each opens to its lines, and leads to its entry in either session. */
import { useMemo, useRef, useState } from 'preact/hooks'
import type { DiffAnswer, DiffChange, DiffSpot } from '../../../server/api-diff.ts'
import { Panel } from '../../charts/panel.tsx'
import { useKeys } from '../../keys.ts'
import { href, setParams, setPosition } from '../../router.ts'
import { diffTexts, wholeRows, type DiffRow } from '../../text/diff.ts'
import { Diff } from '../../text/diff.tsx'
import { oneLine, visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Chip } from '../../ui/chip.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { Visible } from '../../ui/visible.tsx'
import { More } from './sides.tsx'

const TYPES = ['changed', 'gone', 'come', 'moved'] as const
const SAYS = { changed: 'changed', gone: 'only in A', come: 'only in B', moved: 'moved' } as const
const SIGNS = { changed: '±', gone: '−', come: '+', moved: '↕' } as const
/** Steps that are in the document before somebody asks for more. */
const FEW = 100

export type StepsProps = {
  readonly value: DiffAnswer
  readonly params: URLSearchParams
  /** The step that is looked at, from 1. */
  readonly position: number | undefined
}

export function Steps({ value, params, position }: StepsProps) {
  const list = useRef<HTMLOListElement>(null)
  const [isAll, setAll] = useState(false)
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set(position === undefined ? [] : [position]))
  const types = params.getAll('type')
  const numbered = useMemo(
    () => value.changes.map((change, at) => ({ change, number: at + 1 })),
    [value.changes],
  )
  const chosen = types.length === 0 ? numbered : numbered.filter(({ change }) => types.includes(change.type))
  const isFar = chosen.findIndex(({ number }) => number === position) >= FEW
  const shown = isAll || isFar ? chosen : chosen.slice(0, FEW)
  const turn = (number: number): void => {
    const next = new Set(open)
    if (!next.delete(number)) {
      next.add(number)
      setPosition(number)
    }
    setOpen(next)
  }
  const heads = (): readonly HTMLElement[] => [
    ...(list.current?.querySelectorAll<HTMLElement>('.step-head') ?? []),
  ]
  const move = (step: 1 | -1): void => {
    const all = heads()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const from = at === -1 ? all.findIndex(({ dataset }) => dataset['number'] === String(position)) : at
    const next = all[Math.max(0, Math.min(from + step, all.length - 1))]
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
    if (next !== undefined) setPosition(Number(next.dataset['number']))
  }
  useKeys('Steps that differ', [
    { keys: ['j'], says: 'Next step that differs', run: () => move(1) },
    { keys: ['k'], says: 'Previous step that differs', run: () => move(-1) },
    { keys: ['o'], says: 'Open or fold it', run: () => (position === undefined ? false : turn(position)) },
    {
      keys: ['x'],
      says: 'Open or fold all in sight',
      run: () => setOpen(new Set(open.size > 0 ? [] : shown.slice(0, MOST_OPEN).map(({ number }) => number))),
    },
  ])
  const total = value.changes.length + value.more.changes
  return (
    <Panel title={`${exactCount(total)} ${total === 1 ? 'step differs' : 'steps differ'}`}>
      <div class="diff-types" role="group" aria-label="Kinds of difference">
        {TYPES.filter((type) => value.counts[type] > 0).map((type) => (
          <Chip
            key={type}
            count={value.counts[type]}
            isPressed={types.includes(type)}
            onPress={() =>
              setParams({
                type: types.includes(type) ? types.filter((one) => one !== type) : [...types, type],
              })
            }
          >
            {SAYS[type]}
          </Chip>
        ))}
      </div>
      <ol class="steps" ref={list} aria-label="Steps that differ">
        {shown.map(({ change, number }) => (
          <li key={number} class={number === position ? 'is-current' : ''}>
            <StepHead
              change={change}
              number={number}
              isOpen={open.has(number)}
              onTurn={() => turn(number)}
              value={value}
            />
            {open.has(number) && <StepDiff change={change} />}
          </li>
        ))}
      </ol>
      {shown.length < chosen.length && (
        <Button onClick={() => setAll(true)}>Show more ({exactCount(chosen.length - shown.length)})</Button>
      )}
      {value.more.changes > 0 && <More shown={value.changes.length} of={total} />}
    </Panel>
  )
}

/** Opened at once with a key. */
const MOST_OPEN = 50

type StepHeadProps = {
  readonly change: DiffChange
  readonly number: number
  readonly isOpen: boolean
  readonly onTurn: () => void
  readonly value: DiffAnswer
}

function StepHead({ change, number, isOpen, onTurn, value }: StepHeadProps) {
  const says = oneLine((change.b ?? change.a)?.text ?? '', 140)
  return (
    <div class="step">
      <button type="button" class="step-head" data-number={number} aria-expanded={isOpen} onClick={onTurn}>
        <span class={`step-sign is-${change.type}`} aria-hidden="true">
          {SIGNS[change.type]}
        </span>
        <span class="step-what">{nameOf(change)}</span>
        <span class="quiet">{SAYS[change.type]}</span>
        <span class="step-says quiet clip foreign">
          <Visible text={says} />
        </span>
      </button>
      <Places change={change} value={value} />
    </div>
  )
}

const NAMES: { readonly [What in DiffChange['what']]: string } = {
  instruction: 'Instruction',
  prompt: 'Prompt',
  answer: 'Answer',
  thinking: 'Thinking',
  call: 'Call',
  result: 'Result',
  image: 'Image',
  error: 'Error',
  record: 'Record',
}

const nameOf = ({ what, tool }: DiffChange): string =>
  tool === undefined ? NAMES[what] : `${NAMES[what]} of ${visible(oneLine(tool, 60))}`

/** In a sentence: what it is, where. */
export function StepLine({ change, value }: { readonly change: DiffChange; readonly value: DiffAnswer }) {
  return (
    <>
      <strong>{nameOf(change)}</strong> {SAYS[change.type]} <Places change={change} value={value} />
    </>
  )
}

function Places({ change: { a, b }, value }: { readonly change: DiffChange; readonly value: DiffAnswer }) {
  const link = (name: 'A' | 'B', id: string, spot: DiffSpot | undefined) =>
    spot && (
      <a
        class="numbers"
        href={href({ view: 'session', id, position: spot.position })}
        title={`Entry ${spot.position} of ${name}`}
      >
        {name} #{spot.position}
      </a>
    )
  return (
    <span class="step-places">
      {link('A', value.a.row.id, a)}
      {link('B', value.b.row.id, b)}
    </span>
  )
}

export function StepDiff({ change }: { readonly change: DiffChange }) {
  const rows = useMemo(() => rowsOf(change), [change])
  if (rows.length === 0) return <p class="quiet">What it says is too much to be shown.</p>
  return <Diff rows={rows} label={`${nameOf(change)}, ${SAYS[change.type]}`} />
}

function rowsOf({ type, a, b }: DiffChange): readonly DiffRow[] {
  const [was, is] = [a?.text, b?.text]
  if (was === undefined && is === undefined) return []
  const spot = a ?? b
  return [
    ...(spot?.skipped === undefined
      ? []
      : [note(`⋯ ${exactCount(spot.skipped)} characters before this are the same`)]),
    ...linesOf(type, was ?? '', is ?? ''),
    ...left('A', a),
    ...left('B', b),
  ]
}

function linesOf(type: DiffChange['type'], was: string, is: string): readonly DiffRow[] {
  if (type === 'gone') return wholeRows(was, 'gone')
  if (type === 'come') return wholeRows(is, 'new')
  if (type === 'moved') return was.split('\n').map((text) => ({ kind: 'same', text }))
  const rows = diffTexts(was, is)
  // A result may say the same and have failed.
  return was === is
    ? [note('The words are the same; one failed, or what differs was left out'), ...rows]
    : rows
}

const note = (text: string): DiffRow => ({ kind: 'note', text })
const left = (name: string, spot: DiffSpot | undefined): readonly DiffRow[] =>
  spot?.cut === undefined ? [] : [note(`⋯ ${exactCount(spot.cut)} characters more in ${name}`)]
