/** One session: what it is, its outline, and its entries by position. */
import { toUsd } from '../cost/money.ts'
import { HansardError } from '../errors.ts'
import type { Outline } from '../search/outline-now.ts'
import { outlineColumns } from '../search/outline-columns.ts'
import { readRows, type OutlineEntry } from '../search/outline-read.ts'
import { MARKS, usageOf, type OutlineRow } from '../search/outline-row.ts'
import { isUncounted, uncountedOf } from '../replay/call-bytes.ts'
import type { Database } from '../sqlite/driver.ts'
import { citation, type Entry } from '../transcript/entry.ts'
import { answer, queryOf } from './answers.ts'
import {
  rangeQuerySchema,
  type EntriesAnswer,
  type EntryRow,
  type OutlineAnswer,
  type SessionAnswer,
} from './api.ts'
import { childrenOf } from './children.ts'
import type { App, AppContext } from './context.ts'
import { cutEntry, LONGEST_READ } from './cut-entry.ts'
import { rawRecord } from './raw-record.ts'
import { toSessionRow, withoutSecrets } from './rows.ts'
import { lengthOf, noEntry, reach, sessionAt, type SessionAt } from './session-at.ts'

const MOST_ENTRIES = 200
const MOST_OUTLINED = 1_000_000
/** Characters of a record that are given. */
const RAW_LENGTH = 1024 * 1024

export function registerEntries(app: App, context: AppContext): void {
  app.get('/api/v1/sessions/:id', async (c) => {
    const at = await sessionAt(c, context)
    return answer(c, await sessionAnswer(at, await at.outline.reach(1, 100), context))
  })

  app.get('/api/v1/sessions/:id/outline', async (c) => {
    const { from = 0, to: asked = MOST_OUTLINED + from } = queryOf(c, rangeQuerySchema)
    const at = await sessionAt(c, context)
    const outline = await at.outline.reach(Math.min(asked, at.length), 1000)
    return answer(c, await outlineAnswer(at, outline, { from, to: asked }, context))
  })

  app.get('/api/v1/sessions/:id/entries', async (c) => {
    const { from = 0, to: asked = from + MOST_ENTRIES } = queryOf(c, rangeQuerySchema)
    if (asked - from > MOST_ENTRIES)
      throw new HansardError('invalid-argument', `${asked - from} entries are too many at once`, {
        hint: `ask for ${MOST_ENTRIES} at most`,
      })
    const at = await sessionAt(c, context)
    const to = Math.max(from, asked)
    const outline = await reach(at, Math.min(to, Math.max(at.length, from + 1)))
    const entries: EntryRow[] = []
    for await (const { lengths, ...row } of rowsOf(outline, at, from, to, LONGEST_READ)) {
      const { entry, cut } = cutEntry(row.entry, lengths)
      entries.push({ ...row, entry, ...(cut && { cut }) })
    }
    const length = Math.max(lengthOf(outline, at.listed), from + entries.length)
    const last = outline.note?.damage.filter(({ position }) => position === length && to >= length) ?? []
    const found: EntriesAnswer = {
      from,
      length,
      entries,
      ...(last.length > 0 && { damageAtEnd: last.map(({ damage }) => damage) }),
    }
    return answer(c, found)
  })

  app.get('/api/v1/sessions/:id/entries/:position', async (c) => {
    const at = await sessionAt(c, context)
    const position = toPosition(c.req.param('position'))
    const outline = await reach(at, position + 1)
    for await (const row of rowsOf(outline, at, position, position + 1)) return answer(c, row)
    throw noEntry(position)
  })

  app.get('/api/v1/sessions/:id/entries/:position/raw', async (c) => {
    const at = await sessionAt(c, context)
    const position = toPosition(c.req.param('position'))
    const outline = await reach(at, position + 1)
    const [row] = outline.readable ? await readRows(outline.readable, position, position + 1) : []
    if (row === undefined || outline.readable === undefined || position >= outline.length)
      throw noEntry(position)
    const found = await rawRecord(outline.readable, row, context, RAW_LENGTH)
    if (found === undefined)
      throw new HansardError('not-found', `entry ${position} has no record of its own that can be read`, {
        hint: 'it is a row of a database or part of a document, or its file is gone',
      })
    return answer(c, found)
  })
}

/** What a session is. */
export async function sessionAnswer(
  { found, listed: known }: SessionAt,
  outline: Outline,
  { state, redactor }: AppContext,
): Promise<SessionAnswer> {
  const children = await state.read((database: Database) => childrenOf(database, found, redactor))
  const listed = known ?? { id: found.id, status: 'running' as const }
  const { did: _, ...facts } = { did: undefined, ...listed }
  const { note } = outline
  return {
    session: withoutSecrets(facts, redactor),
    row: toSessionRow(listed, redactor),
    children: children ?? [],
    sources: (note?.sources ?? outline.sources).map((source, number) => ({
      source: redactor.text(source),
      entries: note?.perSource[number] ?? 0,
    })),
    length: lengthOf(outline, known),
    outline: { state: outline.state, entries: outline.length },
    ...(note && note.damageCount > 0 && { damage: note.damageCount }),
  }
}

/** Its entries in columns. */
export async function outlineAnswer(
  { listed }: SessionAt,
  outline: Outline,
  { from, to: asked }: { readonly from: number; readonly to: number },
  { redactor }: AppContext,
): Promise<OutlineAnswer> {
  const to = Math.max(from, Math.min(asked, from + MOST_OUTLINED, outline.length))
  const columns = await outlineColumns(outline, from, to)
  return {
    length: lengthOf(outline, listed),
    from,
    to,
    state: outline.state,
    sources: outline.sources.slice(0, 0x1_0000).map((source) => redactor.text(source)),
    kinds: base64(columns.kinds),
    costs: base64(columns.costs),
    times: base64(columns.times),
    sourceOf: base64(columns.sourceOf),
    calls: base64(columns.calls),
  }
}

/** Its entries from one position up to another, whole, or with texts of `longest` at most. */
export async function* rowsOf(
  outline: Outline,
  { found: { id }, listed }: SessionAt,
  from: number,
  to: number,
  longest?: number,
): AsyncGenerator<EntryRow & Pick<OutlineEntry, 'lengths'>> {
  const unpriced = outline.note?.unpriced ?? []
  const damage = outline.damage(from, to)
  // One before the first: what an entry costs is what the sum grows by.
  let before: OutlineRow | undefined
  const options = longest === undefined ? {} : { longest }
  for await (const one of outline.entries(Math.max(0, from - 1), to, options)) {
    if (one.position >= from) {
      const own = damage.filter(({ position }) => position === one.position)
      yield {
        ...toRow(id, one, before),
        ...costs(one, before, { unpriced, fallback: listed?.model }),
        ...(one.lengths && { lengths: one.lengths }),
        ...(own.length > 0 && { damage: own.map(({ damage: what }) => what) }),
      }
    }
    before = one.row
  }
}

function toRow(
  id: string,
  { position, row, entry }: OutlineEntry,
  _before: OutlineRow | undefined,
): EntryRow {
  const shown = entry ?? lostEntry(row)
  return { position, citation: citation(id, shown), entry: shown }
}

/** In the place of what was there when the session was outlined, and is not any more. */
function lostEntry({ sequence }: OutlineRow): Entry {
  const reason = 'its record is no longer there'
  return {
    id: `lost/${sequence}`,
    source: 'primary',
    sequence,
    kind: 'event',
    blocks: [{ type: 'unknown', raw: null, reason }],
  }
}

function costs(
  { position, row, entry }: OutlineEntry,
  before: OutlineRow | undefined,
  {
    unpriced,
    fallback,
  }: { readonly unpriced: readonly (readonly [string, number])[]; readonly fallback: string | undefined },
): Pick<EntryRow, 'cost' | 'running' | 'usageTotal' | 'uncountedTotal'> {
  const usage = usageOf(row)
  const uncounted = uncountedOf(row.calls)
  const isReport = (row.marks & MARKS.report) !== 0 && (row.marks & MARKS.elsewhere) === 0
  const isUnpriced = (row.marks & MARKS.unpriced) !== 0
  const own = isUnpriced ? [entry?.model ?? fallback ?? 'unknown'] : []
  const names = unpriced.filter(([, first]) => first <= position).map(([model]) => model)
  // While the outline is made, only that some have none is known.
  if (names.length === 0 && (row.marks & MARKS.unpricedSoFar) !== 0) names.push(own[0] ?? 'unknown')
  return {
    ...(isReport && {
      // What nobody counted costs nobody knows how much.
      cost: {
        usd: isUnpriced || isUncounted(row.call) ? null : toUsd(row.pico - (before?.pico ?? 0n)),
        unpriced: own,
      },
    }),
    ...((usage !== undefined || uncounted > 0) && {
      running: {
        usd: row.pico === 0n && (names.length > 0 || usage === undefined) ? null : toUsd(row.pico),
        unpriced: names,
      },
    }),
    ...(usage && { usageTotal: usage }),
    ...(uncounted > 0 && { uncountedTotal: uncounted }),
  }
}

export function toPosition(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw noEntry(JSON.stringify(text.slice(0, 100)))
}

function base64(column: Uint8Array | Uint16Array | Float32Array | Float64Array): string {
  return Buffer.from(column.buffer, column.byteOffset, column.byteLength).toString('base64')
}
