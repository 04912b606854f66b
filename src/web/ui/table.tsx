/** A table of some dozens of rows. Longer ones are a `VirtualList`. */
import type { ComponentChildren } from 'preact'

export type Column<Row> = {
  readonly name: string
  readonly isNumber?: boolean
  /** It shows what another column says, and is left out where there is no room for both. */
  readonly isSpare?: boolean
  readonly title?: string
  readonly cell: (row: Row, at: number) => ComponentChildren
  /** The heading becomes a button; `sorted` says how it stands now. */
  readonly onSort?: () => void
  readonly sorted?: 'ascending' | 'descending'
}

export type TableProps<Row> = {
  /** What is in it, for those who do not see it. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf?: (row: Row, at: number) => string | number
}

export function Table<Row>({ caption, columns, rows, keyOf = (_, at) => at }: TableProps<Row>) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class="table">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, isSpare, title, onSort, sorted }) => (
              <th
                key={name}
                scope="col"
                class={classOf(isNumber, isSpare)}
                {...(title !== undefined && { title })}
                {...(sorted !== undefined && { 'aria-sort': sorted })}
              >
                {onSort === undefined ? (
                  name
                ) : (
                  <button type="button" class="table-sort" onClick={onSort}>
                    {name}
                    {sorted !== undefined && (sorted === 'ascending' ? ' ↑' : ' ↓')}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={keyOf(row, at)}>
              {columns.map(({ name, isNumber, isSpare, cell }) => (
                <td key={name} class={classOf(isNumber, isSpare)}>
                  {cell(row, at)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const classOf = (isNumber = false, isSpare = false): string =>
  `${isNumber ? 'is-number' : ''} ${isSpare ? 'is-spare' : ''}`
