/** The sessions and the single calls that cost most. */
import type { TopAnswer } from '../../../server/api-cost.ts'
import { ask } from '../../api.ts'
import { toQuery, type Narrowed } from '../../charts/filters.tsx'
import { sessionsHref } from '../../charts/asked.ts'
import { Given, Panel } from '../../charts/panel.tsx'
import { href } from '../../router.ts'
import { LONG_PAUSE_MS, useAnswer } from '../../state/answer.ts'
import { oneLine, titleLine, visible } from '../../text/visible.ts'
import { Money, Time, Tokens } from '../../ui/amounts.tsx'
import { Table } from '../../ui/table.tsx'
import { Visible } from '../../ui/visible.tsx'

const MOST = '10'

export function Dearest({ narrowed }: { readonly narrowed: Narrowed }) {
  const asked = useAnswer(
    `dearest ${JSON.stringify(narrowed)}`,
    (options) => ask.costTop({ ...narrowed, limit: MOST }, options),
    () => true,
    { pauseMs: LONG_PAUSE_MS },
  )
  return (
    <div class="panels">
      <Panel
        title="Most expensive sessions"
        isBusy={asked.isBusy}
        more={<a href={sessionsHref(toQuery(narrowed), 'cost')}>All by cost</a>}
      >
        <Given asked={asked}>
          {({ sessions }) => (
            <Table
              caption="Most expensive sessions"
              rows={sessions}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: 'Session',
                  cell: ({ id, title, prompt }) => <Titled id={id} title={title ?? prompt} />,
                },
                { name: 'When', cell: ({ startedAt }) => <Time at={startedAt} /> },
                {
                  name: 'Tokens',
                  isNumber: true,
                  cell: ({ id, usage, uncounted }) => (
                    <a href={href({ view: 'session', id })}>
                      <Tokens usage={usage} uncounted={uncounted} />
                    </a>
                  ),
                },
                {
                  name: 'Cost',
                  isNumber: true,
                  cell: ({ id, cost, usage, uncounted }) => (
                    <a href={href({ view: 'session', id })}>
                      <Money cost={cost} usage={usage} uncounted={uncounted} />
                    </a>
                  ),
                },
              ]}
            />
          )}
        </Given>
      </Panel>
      <Panel title="Most expensive calls" isBusy={asked.isBusy}>
        <Given asked={asked}>
          {({ calls }) => (
            <Table
              caption="Most expensive calls"
              rows={calls}
              columns={[
                { name: 'Session', cell: ({ session, title }) => <Titled id={session} title={title} /> },
                {
                  name: 'Model',
                  cell: ({ model }) => model !== undefined && <Visible text={oneLine(model, 60)} />,
                },
                { name: 'When', cell: ({ at }) => <Time at={at} /> },
                {
                  name: 'Tokens',
                  isNumber: true,
                  cell: (call) => (
                    <a href={callHref(call)}>
                      <Tokens usage={call.usage} />
                    </a>
                  ),
                },
                {
                  name: 'Cost',
                  isNumber: true,
                  cell: (call) => (
                    <a href={callHref(call)}>
                      <Money cost={call.cost} usage={call.usage} />
                    </a>
                  ),
                },
              ]}
            />
          )}
        </Given>
      </Panel>
    </div>
  )
}

/** To the entry that was written down when the call was. */
const callHref = ({ session, at }: TopAnswer['calls'][number]): string =>
  href({ view: 'session', id: session, ...(at !== undefined && { params: { when: at } }) })

export function Titled({ id, title }: { readonly id: string; readonly title: string | undefined }) {
  const name = titleLine(title ?? `session ${id.slice(0, 8)}`, 160)
  return (
    <a class="name-cell clip" href={href({ view: 'session', id })} title={visible(name)}>
      <Visible text={name} />
    </a>
  )
}
