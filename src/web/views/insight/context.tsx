/** How full a session's context was at each call, and of what; one source at a time. */
import { countMark, marked, toMark, type Amount } from '../../../replay/marks.ts'
import type { InsightAnswer } from '../../../server/api-cost.ts'
import { BehindChart } from '../../charts/panel.tsx'
import { everyNth } from '../../charts/scale.ts'
import { Stacked } from '../../charts/stacked.tsx'
import { href, navigate, setParams } from '../../router.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { Count, Time } from '../../ui/amounts.tsx'
import { exactCount, shortCount } from '../../ui/numbers.ts'
import { Table } from '../../ui/table.tsx'
import { Visible } from '../../ui/visible.tsx'
import { layersOf, UNSEEN_PART } from './layers.ts'

export type ContextProps = {
  readonly id: string
  readonly value: InsightAnswer
  readonly params: URLSearchParams
}

/** In the order of the layers; what mostly fills a context stands out. */
const COLOURS = ['series-none', 'series-2', 'series-4', 'series-5', 'series-3', 'series-1', 'series-7']
/** Rows of the table; of a long session evenly. */
const MOST_ROWS = 200

export function Context({ id, value, params }: ContextProps) {
  const { context, compactions, parts } = value
  if (context.length === 0) return <p class="quiet">No call of this session says how much it read.</p>
  const sources = [...new Set(context.map(({ source }) => source))]
  const source = sources.find((one) => one === params.get('source')) ?? sources[0] ?? ''
  const own = context.filter((point) => point.source === source)
  const names = [UNSEEN_PART, ...parts]
  const layers = own.map(layersOf)
  const [from, to] = [own[0]?.position ?? 0, own.at(-1)?.position ?? 0]
  return (
    <>
      {sources.length > 1 && (
        <label class="context-source">
          <span class="quiet">Context of</span>{' '}
          <select value={source} onChange={({ currentTarget }) => setParams({ source: currentTarget.value })}>
            {sources.slice(0, 200).map((one) => (
              <option key={one} value={one}>
                {visible(oneLine(one, 60))}
              </option>
            ))}
          </select>
        </label>
      )}
      <Stacked
        label="Tokens that each call read, over the session, by what they are of"
        format={shortCount}
        names={names}
        colours={COLOURS}
        marks={compactions
          // A compaction may be a mark and a summary, one after the other.
          .filter((x, at) => compactions[at - 1] !== x - 1 && x > from && x < to)
          .map((x) => ({ x, says: `compacted at entry ${x}` }))}
        points={own.map((point, at) => ({
          x: point.position,
          layers: layers[at] ?? [],
          says: saysOf(point, names, layers[at] ?? []),
          go: () => navigate({ view: 'session', id, position: point.position }),
        }))}
      />
      <ul class="legend" aria-label="Parts of the context">
        {names.map((name, at) => (
          <li key={name}>
            <svg aria-hidden="true">
              <rect class={COLOURS[at] ?? ''} width="10" height="10" rx="2" />
            </svg>
            {name}
          </li>
        ))}
        {compactions.length > 0 && <li>dashed: compacted</li>}
      </ul>
      <p class="quiet">
        The height is what the provider counted. Parts are an estimate by the length of what was said since
        the last compaction; {UNSEEN_PART} is what no entry shows, such as the tools’ descriptions.
      </p>
      <BehindChart>
        <Table
          caption="Tokens that each call read"
          rows={[...everyNth(own, MOST_ROWS)]}
          keyOf={({ position }) => position}
          columns={[
            {
              name: 'Entry',
              cell: ({ position }) => <a href={href({ view: 'session', id, position })}>#{position}</a>,
            },
            { name: 'When', cell: ({ at }) => <Time at={at} /> },
            { name: 'Source', cell: ({ source: one }) => <Visible text={oneLine(one, 60)} /> },
            {
              name: 'Tokens',
              isNumber: true,
              cell: (point) => <Count count={point.input} what="tokens" of={countedIn(point)} />,
            },
            ...names.map((name, layer) => ({
              name,
              isNumber: true,
              cell: (point: Point) => partText(layersOf(point)[layer] ?? 0),
            })),
          ]}
        />
      </BehindChart>
    </>
  )
}

type Point = InsightAnswer['context'][number]

const countedIn = ({ quality }: Point): Omit<Amount, 'cost'> => (quality ? { usage: { quality } } : {})

/** Parts are told by characters alone. */
const partText = (tokens: number): string =>
  tokens < 1 ? '0' : marked(toMark('estimated'), shortCount(tokens))

function saysOf(point: Point, names: readonly string[], layers: readonly number[]): string {
  const parts = names.flatMap((name, at) => {
    const share = layers[at] ?? 0
    return share >= 1 ? [`${name} ${partText(share)}`] : []
  })
  const tokens = marked(countMark(countedIn(point)), exactCount(point.input))
  return `entry ${exactCount(point.position)}: ${tokens} tokens · ${parts.join(' · ')}`
}
