/** Sessions that loop or fail, each with the entries that show it. */
import type { ApiFinding } from '../../../server/api-cost.ts'
import { citedHref } from '../../charts/asked.ts'
import { href } from '../../router.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { Chip } from '../../ui/chip.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { Table, type Column } from '../../ui/table.tsx'
import { Visible } from '../../ui/visible.tsx'
import { Titled } from '../cost/dearest.tsx'

type Placed = ApiFinding & { readonly positions?: readonly number[] | undefined }

const SAYS: Readonly<Record<ApiFinding['kind'], string>> = {
  'repeated-calls': 'the same call',
  're-reads': 'the same file read',
  failures: 'failures in a row',
}

export type FindingsProps = {
  readonly findings: readonly Placed[]
  /** Within one session its name says nothing. */
  readonly isOne?: boolean
}

export function Findings({ findings, isOne = false }: FindingsProps) {
  if (findings.length === 0) return <p class="quiet">Nothing was done in vain, as far as can be told.</p>
  const columns: readonly Column<Placed>[] = [
    {
      name: 'What',
      cell: ({ kind }) => <Chip tone={kind === 'failures' ? 'bad' : 'warn'}>{SAYS[kind]}</Chip>,
    },
    { name: 'Times', isNumber: true, cell: ({ count }) => exactCount(count) },
    {
      name: 'Tool',
      cell: ({ tool, file }) => (
        <span class="name-cell clip" title={visible(oneLine(file ?? tool, 500))}>
          <Visible text={oneLine(file === undefined ? tool : `${tool} ${file}`, 120)} />
        </span>
      ),
    },
    ...(isOne
      ? []
      : [
          {
            name: 'Session',
            cell: ({ session, title }: Placed) => <Titled id={session} title={title} />,
          },
        ]),
    { name: 'Evidence', cell: (finding) => <Evidence finding={finding} /> },
    ...(isOne
      ? []
      : [
          {
            name: 'Context',
            cell: ({ session }: Placed) => <a href={href({ view: 'insight', id: session })}>look into it</a>,
          },
        ]),
  ]
  return <Table caption="Loops and failures, with what shows them" columns={columns} rows={findings} />
}

function Evidence({ finding: { session, citations, positions } }: { readonly finding: Placed }) {
  return (
    <span class="numbers">
      {citations.map((citation, at) => {
        const position = positions?.[at]
        const isPlaced = position !== undefined && positions?.length === citations.length
        const to = isPlaced ? href({ view: 'session', id: session, position }) : citedHref(session, citation)
        const name = citation.slice(citation.indexOf('#'))
        return (
          <span key={citation}>
            {at > 0 && ', '}
            <a href={to} title="Open the entry">
              <Visible text={oneLine(name, 40)} />
            </a>
          </span>
        )
      })}
    </span>
  )
}
