/** One session looked into: how full its context was and of what, its tools, and what it did in vain. */
import type { InsightAnswer } from '../../../server/api-cost.ts'
import { ask } from '../../api.ts'
import { Share } from '../../charts/bars.tsx'
import { Given, Panel } from '../../charts/panel.tsx'
import { href } from '../../router.ts'
import { useAnswer } from '../../state/answer.ts'
import { oneLine, titleLine } from '../../text/visible.ts'
import { Count } from '../../ui/amounts.tsx'
import { Table } from '../../ui/table.tsx'
import { Visible } from '../../ui/visible.tsx'
import { Context } from './context.tsx'
import { Findings } from './findings.tsx'
import { Tools } from './tools.tsx'

export function SessionInsight({ id, params }: { readonly id: string; readonly params: URLSearchParams }) {
  const isOwn = (row: { readonly id: string }): boolean => row.id === id
  const session = useAnswer(`session ${id}`, (options) => ask.session(id, options), isOwn)
  const asked = useAnswer(`insight ${id}`, (options) => ask.insight(id, options), isOwn)
  const row = session.value?.row
  const title = titleLine(row?.title ?? row?.prompt ?? `session ${id.slice(0, 8)}`, 160)
  return (
    <div class="page">
      <nav aria-label="Where this is">
        <a href={href({ view: 'insight' })}>Insight</a>
      </nav>
      <div class="panel-head">
        <h1>
          <Visible text={title} />
        </h1>
        <a href={href({ view: 'session', id })}>Open the transcript</a>
      </div>
      <Given asked={asked}>
        {(value) => (
          <>
            <Panel title="Context over time" isBusy={asked.isBusy}>
              <Context id={id} value={value} params={params} />
            </Panel>
            <div class="panels">
              <Panel title="What was said and given back">
                <Fills value={value} />
              </Panel>
              <Panel title="Loops and failures">
                <Findings findings={value.findings} isOne />
              </Panel>
            </div>
            <Panel title="Tools">
              <Tools tools={value.tools} params={params} />
            </Panel>
          </>
        )}
      </Given>
    </div>
  )
}

function Fills({ value: { fills } }: { readonly value: InsightAnswer }) {
  const whole = fills.reduce((sum, { characters }) => sum + characters, 0)
  const rows = fills.toSorted((a, b) => b.characters - a.characters).slice(0, 30)
  if (whole === 0) return <p class="quiet">Nothing was counted yet.</p>
  return (
    <>
      <Table
        caption="What fills the context, by characters of the transcript"
        rows={rows}
        keyOf={({ what }) => what}
        columns={[
          { name: 'What', cell: ({ what }) => <Visible text={oneLine(what, 60)} /> },
          {
            name: 'Share',
            isSpare: true,
            cell: ({ characters }) => (
              <div class="bar-cell">
                <Share part={characters / whole} />
              </div>
            ),
          },
          {
            name: 'Characters',
            isNumber: true,
            cell: ({ characters }) => <Count count={characters} what="characters" />,
          },
          {
            name: 'Part',
            isNumber: true,
            cell: ({ characters }) => `${Math.round((characters / whole) * 1000) / 10} %`,
          },
        ]}
      />
      <p class="quiet">
        An estimate: what stands in the transcript, whether or not it was still in the context.
      </p>
    </>
  )
}
