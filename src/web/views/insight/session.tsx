/** One session looked into: how full its context was and of what, its tools, and what it did in vain. */
import type { InsightAnswer } from '../../../server/api-cost.ts'
import { ask } from '../../api.ts'
import { Share } from '../../charts/bars.tsx'
import { Lines } from '../../charts/lines.tsx'
import { BehindChart, Given, Panel } from '../../charts/panel.tsx'
import { everyNth } from '../../charts/scale.ts'
import { href, navigate } from '../../router.ts'
import { useAnswer } from '../../state/answer.ts'
import { oneLine, titleLine } from '../../text/visible.ts'
import { Count, Time } from '../../ui/amounts.tsx'
import { exactCount, shortCount } from '../../ui/numbers.ts'
import { Table } from '../../ui/table.tsx'
import { Visible } from '../../ui/visible.tsx'
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
              <ContextChart id={id} value={value} />
            </Panel>
            <div class="panels">
              <Panel title="What fills it">
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

/** Rows of the table; of a long session evenly. */
const MOST_ROWS = 200

function ContextChart({ id, value }: { readonly id: string; readonly value: InsightAnswer }) {
  const { context, compactions } = value
  if (context.length === 0) return <p class="quiet">No call of this session says how much it read.</p>
  const sources = [...new Set(context.map(({ source }) => source))]
  const shown = everyNth(context, MOST_ROWS)
  const tokens = (point: InsightAnswer['context'][number]): number =>
    point.input + (point.cacheRead ?? 0) + (point.cacheWrite ?? 0)
  return (
    <>
      <Lines
        label="Tokens that each call read, over the session"
        format={shortCount}
        // A compaction may be a mark and a summary, one after the other.
        marks={compactions
          .filter((x, at) => compactions[at - 1] !== x - 1)
          .map((x) => ({ x, says: `compacted at entry ${x}` }))}
        series={sources.map((source) => ({
          name: source,
          points: context
            .filter((point) => point.source === source)
            .map((point) => ({
              x: point.position,
              y: tokens(point),
              says: `entry ${exactCount(point.position)}: ${exactCount(tokens(point))} tokens, ${oneLine(source, 60)}`,
              go: () => navigate({ view: 'session', id, position: point.position }),
            })),
        }))}
      />
      <ul class="legend" aria-label="Lines">
        {sources.slice(0, 12).map((source, at) => (
          <li key={source}>
            <svg aria-hidden="true">
              <rect class={`series-${Math.min(at + 1, 6)}`} width="10" height="10" rx="2" />
            </svg>
            <Visible text={oneLine(source, 60)} />
          </li>
        ))}
        {compactions.length > 0 && <li>dashed: compacted</li>}
      </ul>
      <BehindChart>
        <Table
          caption="Tokens that each call read"
          rows={[...shown]}
          keyOf={({ position }) => position}
          columns={[
            {
              name: 'Entry',
              cell: ({ position }) => <a href={href({ view: 'session', id, position })}>#{position}</a>,
            },
            { name: 'When', cell: ({ at }) => <Time at={at} /> },
            { name: 'Source', cell: ({ source }) => <Visible text={oneLine(source, 60)} /> },
            {
              name: 'Tokens',
              isNumber: true,
              cell: (point) => <Count count={tokens(point)} what="tokens" />,
            },
          ]}
        />
      </BehindChart>
    </>
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
