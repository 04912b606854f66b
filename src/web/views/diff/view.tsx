/**
 * Two sessions beside each other: where they part, what each came to, every step that differs. The address names both, and what is
 * looked at; of one alone it is asked what to compare it with.
 */
import '../../charts/charts.css'
import '../../styles/text.css'
import './diff.css'
import { useState } from 'preact/hooks'
import type { DiffAnswer } from '../../../server/api-diff.ts'
import { ask } from '../../api.ts'
import { Given, Panel } from '../../charts/panel.tsx'
import { useKeys } from '../../keys.ts'
import { href, navigate } from '../../router.ts'
import type { ViewProps } from '../../shell/views.ts'
import { LONG_PAUSE_MS, useAnswer } from '../../state/answer.ts'
import { exactCount } from '../../ui/numbers.ts'
import { Choose, ChooseFor } from './choose.tsx'
import { Beside, Files, SideHead, Tools, Turns } from './sides.tsx'
import { StepDiff, StepLine, Steps } from './steps.tsx'

export function DiffView({ route }: ViewProps) {
  const { params } = route
  const [a, b] = [params.get('a') ?? '', params.get('b') ?? '']
  if (a === '') return <Choose row={undefined} />
  if (b === '') return <ChooseFor a={a} />
  return <Two key={`${a} ${b}`} a={a} b={b} params={params} position={route.position} />
}

type TwoProps = {
  readonly a: string
  readonly b: string
  readonly params: URLSearchParams
  /** Of the step that is looked at, from 1. */
  readonly position: number | undefined
}

function Two({ a, b, params, position }: TwoProps) {
  const asked = useAnswer(
    `diff ${a} ${b}`,
    (options) => ask.diff({ a, b }, options),
    ({ id }) => id.startsWith(a) || id.startsWith(b),
    { pauseMs: LONG_PAUSE_MS },
  )
  const swap = { view: 'diff', params: { a: b, b: a } } as const
  useKeys('Compare', [{ keys: ['s'], says: 'Swap the two', run: () => navigate(swap) }])
  return (
    <div class="page diff-page">
      <div class="panel-head">
        <h1>Two sessions</h1>
        <nav class="diff-ways" aria-label="Where this is">
          <a href={href(swap)} title="Swap (s)">
            Swap
          </a>
          <a href={href({ view: 'diff', params: { a } })}>Compare A with another</a>
        </nav>
      </div>
      <Given asked={asked}>
        {(value) => (
          <>
            <div class="diff-sides">
              <SideHead name="A" side={value.a} />
              <SideHead name="B" side={value.b} />
            </div>
            <Parting value={value} isBusy={asked.isBusy} />
            <Panel title="Side by side">
              <Beside value={value} />
            </Panel>
            {value.changes.length > 0 && <Steps value={value} params={params} position={position} />}
            <div class="diff-sides">
              <Tools value={value} />
              <Files value={value} />
            </div>
            <Turns value={value} />
          </>
        )}
      </Given>
    </div>
  )
}

function Parting({ value, isBusy }: { readonly value: DiffAnswer; readonly isBusy: boolean }) {
  const [isWhole, setWhole] = useState(false)
  const [first] = value.changes
  if (first === undefined)
    return (
      <Panel title="The same" isBusy={isBusy}>
        <p>The same was asked and done in both, in the same order.</p>
        {value.alike > 0 && <p>Steps that differ only in ids, times or places: {exactCount(value.alike)}.</p>}
      </Panel>
    )
  return (
    <Panel title="Where they part" isBusy={isBusy}>
      <p class="diff-line">
        <StepLine change={first} value={value} />
      </p>
      <div class={isWhole ? '' : 'diff-first'}>
        <StepDiff change={first} />
      </div>
      {isLong(first) && (
        <button type="button" class="diff-more" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : 'Show more of it'}
        </button>
      )}
    </Panel>
  )
}

/** More lines than are shown at first, or lines that are many when they are wrapped. */
function isLong({ a, b }: DiffAnswer['changes'][number]): boolean {
  const text = `${a?.text ?? ''}\n${b?.text ?? ''}`
  return text.length > 1000 || text.split('\n').length > 10
}
