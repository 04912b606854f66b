/** A row of records on one line, which opens to what each says. */
import { Code } from '../../text/code.tsx'
import { oneLine, visible } from '../../text/visible.ts'
import { Fold } from './fold.tsx'
import type { PartProps } from './parts.ts'
import { pretty } from './pretty.ts'
import { recordName, rowFrom } from './records.ts'

export function Records({ row, store, shown }: Omit<PartProps, 'at'>) {
  const all = rowFrom(row, store.pages)
  const names = new Map<string, number>()
  for (const { entry } of all) {
    const name = recordName(entry)
    names.set(name, (names.get(name) ?? 0) + 1)
  }
  const says = [...names].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`)).join(', ')
  return (
    <Fold
      isOpen={shown.isOpen(row.position, 'event')}
      onTurn={() => shown.turn(row.position, 'event')}
      tone="record"
      line={
        <>
          <span class="record-name">{all.length === 1 ? 'Record' : `${all.length} records`}</span>{' '}
          <span>{visible(oneLine(says, 200))}</span>
        </>
      }
    >
      {() =>
        all.map(({ position, entry }) => (
          <div key={position} class="record">
            <p class="tool-part">
              {visible(oneLine(recordName(entry), 200))} <span class="quiet numbers">#{position}</span>
            </p>
            {entry.blocks.length === 0 && <Code text={pretty(entry.metadata ?? {})} lang="json" isBare />}
            {entry.blocks.map((block, at) => (
              <Code key={at} text={pretty(block.type === 'unknown' ? block.raw : block)} lang="json" isBare />
            ))}
          </div>
        ))
      }
    </Fold>
  )
}
