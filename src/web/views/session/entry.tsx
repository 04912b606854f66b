/** An entry of a transcript: who said it, when and at what cost, what is missing before it, and its blocks. */
import type { ComponentChildren } from 'preact'
import { useComputed } from '@preact/signals'
import type { EntryRow } from '../../../server/api.ts'
import { contentText, type Block } from '../../../transcript/block.ts'
import type { Entry } from '../../../transcript/entry.ts'
import { entryHref } from '../../router.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { Money, Tokens } from '../../ui/amounts.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { moneyText } from '../../ui/numbers.ts'
import { exactTime, preciseTime } from '../../ui/times.ts'
import { Between, DamageNotes } from './between.tsx'
import { BlockView } from './blocks.tsx'
import { entryMarkdown } from './as-markdown.ts'
import { isGiven } from './context.ts'
import { headOf, isRecord } from './records.ts'
import { Records } from './records-line.tsx'
import type { Shown } from './shown.ts'
import type { SessionStore } from './store.ts'
import { TurnSums } from './turn.tsx'

export type EntryProps = {
  readonly row: EntryRow
  readonly before: EntryRow | undefined
  readonly source: string | undefined
  readonly store: SessionStore
  readonly shown: Shown
  /** The sessions that it started. */
  readonly started?: ComponentChildren
  readonly onRaw: (position: number) => void
}

export function EntryView(props: EntryProps) {
  const { row, before, source, store, shown } = props
  const { position, entry } = row
  // Asked for what they say here, so that a row is drawn again only when that is another.
  const isLast = useComputed(() => position === store.length.value - 1).value
  const isSelected = useComputed(() => shown.selected.value === position).value
  const end = isLast && <DamageNotes damage={store.pages.damageAtEnd()} />
  // What is damaged, compacted or long ago stands where it is, also where the entry does not.
  if (isWithAnother(row, store, shown))
    return (
      <>
        <Between row={row} before={before} isPlayed={shown.isPlayed.value} />
        {end}
      </>
    )
  const isMessage = isSaid(entry)
  const look = isMessage ? `is-message is-${isGiven(entry) ? 'system' : (entry.role ?? 'event')}` : 'is-line'
  return (
    <>
      <Between row={row} before={before} isPlayed={shown.isPlayed.value} />
      <article
        class={`entry ${look} ${isSelected ? 'is-selected' : ''} ${source === undefined ? '' : 'is-lane'}`}
        data-focus
        data-position={position}
        tabIndex={isSelected ? 0 : -1}
        aria-label={labelOf(row)}
        {...(isSelected && { 'aria-current': 'true' as const })}
        onFocusIn={() => void (shown.selected.value = position)}
        onClick={() => void (shown.selected.value = position)}
      >
        <div class="entry-head">
          {isMessage && <span class="entry-role">{roleOf(entry)}</span>}
          {isMessage && entry.model !== undefined && (
            <span class="quiet clip">{visible(oneLine(entry.model, 80))}</span>
          )}
          {source !== undefined && (
            <span class="chip">{visible(oneLine(source.replace(/^subagent:/, ''), 40))}</span>
          )}
          <Meta {...props} />
        </div>
        <div class="entry-body">
          {isRecord(row) ? (
            <Records row={row} store={store} shown={shown} />
          ) : entry.blocks.length === 0 ? (
            <p class="quiet entry-nothing">{roleOf(entry)}, of which the record says no more</p>
          ) : (
            entry.blocks.map((block, at) => (
              <BlockView key={at} block={block} row={row} at={at} store={store} shown={shown} />
            ))
          )}
          {props.started}
        </div>
      </article>
      {end}
    </>
  )
}

/** It takes no room of its own: it is shown with a call that it answers, in a row of records, or, a record, not at all. */
export function isWithAnother(row: EntryRow, store: SessionStore, shown: Shown): boolean {
  if (isRecord(row)) return !shown.hasRecords.value || headOf(row, store.pages) !== row.position
  return isAnswered(row, store)
}

/** All that it says is shown with the calls that it answers. */
export function isAnswered({ position, entry }: EntryRow, store: SessionStore): boolean {
  const { blocks, source } = entry
  return (
    blocks.length > 0 &&
    blocks.every(
      (block) =>
        block.type === 'tool-result' &&
        block.callId !== undefined &&
        store.pages.callOf(source, block.callId) !== undefined &&
        store.pages.resultOf(source, block.callId)?.position === position,
    )
  )
}

const ROLES = { system: 'System', user: 'You', assistant: 'Assistant', tool: 'Tool' } as const
/** To a subagent nobody speaks but the agent that started it. */
function roleOf(entry: Entry): string {
  const { role, source } = entry
  if (role === undefined) return 'Event'
  if (role !== 'user') return ROLES[role]
  return source !== 'primary' ? 'Prompt' : isGiven(entry) ? 'Context' : ROLES.user
}

/** Tools and thoughts are lines; what was said has a head. */
function isSaid({ blocks, kind, role }: Entry): boolean {
  if (kind === 'event' && role === undefined)
    return blocks.some(({ type }) => type === 'text' || type === 'error')
  return blocks.some(({ type }) => type === 'text' || type === 'image' || type === 'error')
}

function labelOf({ position, entry }: EntryRow): string {
  const first = entry.blocks.find(({ type }) => type === 'text' || type === 'tool-call')
  return `${roleOf(entry)}, entry ${position}${first === undefined ? '' : `: ${visible(oneLine(blockSays(first), 100))}`}`
}

function blockSays(block: Block): string {
  if (block.type === 'text') return contentText(block.text).slice(0, 400)
  return block.type === 'tool-call' ? block.name : ''
}

function Meta({ row, store, onRaw }: EntryProps) {
  const { position, entry, citation } = row
  // What is counted with another entry costs nothing here, which is no news.
  const isWithAnother = entry.usage === undefined && Number(row.cost?.usd ?? Number.NaN) === 0
  const cost = isWithAnother ? undefined : row.cost
  const sum = moneyText(row.running, { usage: row.usageTotal, uncounted: row.uncountedTotal })
  const at = Date.parse(entry.at ?? '')
  const link = (): string => new URL(entryHref(position), location.href).href
  return (
    <span class="entry-meta">
      <span class="entry-actions">
        <CopyButton text={link} label={`Copy a link to entry ${position}`}>
          Link
        </CopyButton>
        <CopyButton text={() => entryMarkdown(row, store.pages)} label={`Copy entry ${position} as Markdown`}>
          Markdown
        </CopyButton>
        <Button kind="plain" label={`Raw record of entry ${position}`} onClick={() => onRaw(position)}>
          Raw
        </Button>
      </span>
      {entry.role === 'user' && <TurnSums row={row} store={store} />}
      {entry.usage !== undefined && (
        <span class="meta-tokens">
          <Tokens usage={entry.usage} />
        </span>
      )}
      {cost !== undefined && (
        <span class="meta-cost">
          <Money cost={cost} usage={entry.usage} />
        </span>
      )}
      {cost !== undefined && sum !== undefined && (
        <span class="meta-sum quiet numbers" title={`all entries up to this one: ${sum.exact}`}>
          Σ {sum.short}
        </span>
      )}
      {!Number.isNaN(at) && (
        <time class="quiet numbers" dateTime={new Date(at).toISOString()} title={exactTime(at)}>
          {preciseTime(at)}
        </time>
      )}
      <a
        class="entry-number quiet numbers"
        href={entryHref(position)}
        title={visible(citation)}
        tabIndex={-1}
      >
        #{position}
      </a>
    </span>
  )
}
