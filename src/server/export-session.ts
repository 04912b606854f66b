/** A session of the archive as one file, for whoever asks: the route, and `hansard export`. Made as it is taken; nothing is held whole. */
import { HansardError } from '../errors.ts'
import type { Outline } from '../search/outline-now.ts'
import { readRows } from '../search/outline-read.ts'
import type { AppContext } from './context.ts'
import { loadReader, readerParts, type SessionContent } from './export-reader.ts'
import { exportSession, type Exported } from './export.ts'
import { rawRecord } from './raw-record.ts'
import { outlineAnswer, rowsOf, sessionAnswer } from './routes-entries.ts'
import { insightAnswer } from './routes-insight.ts'
import { withoutSecrets } from './rows.ts'
import { safeBlob } from './safe-blob.ts'
import { PATIENCE_MS, sessionById, type SessionAt } from './session-at.ts'

export const EXPORTS = ['html', 'md', 'text', 'json', 'asciicast'] as const
export type ExportAs = (typeof EXPORTS)[number]

/** A page with the reader in it; where that was not built, one without a script. */
export async function exportParts(
  as: ExportAs,
  at: SessionAt,
  context: AppContext,
): Promise<AsyncGenerator<string>> {
  const { options } = context
  const reader = as === 'html' ? loadReader(options.webFolder) : undefined
  if (reader !== undefined)
    return readerParts(reader, {
      ...(await readerContent(at, context)),
      started: startedContent(at, context),
      blob: (hash) => safeBlob(hash, context),
      at: new Date().toISOString(),
    })
  return exportSession(as, {
    ...toExported(at, context),
    started: startedExported(at, context),
    ...(options.utc && { timeZone: 'UTC' }),
  })
}

async function readerContent(at: SessionAt, context: AppContext): Promise<SessionContent> {
  const outline = await wholeOutline(at)
  const { length, readable } = outline
  return {
    answer: {
      ...(await sessionAnswer(at, outline, context)),
      length,
      outline: { state: 'ready', entries: length },
    },
    outline: await outlineAnswer(at, outline, { from: 0, to: length }, context),
    insight: await insightAnswer(at, outline, context),
    rows: rowsOf(outline, at, 0, length),
    damage: (outline.note?.damage ?? []).flatMap(({ position, damage }) =>
      position >= length ? [damage] : [],
    ),
    async raw(position, longest) {
      const [row] = readable === undefined ? [] : await readRows(readable, position, position + 1)
      if (row === undefined || readable === undefined || row.byteLength > longest) return undefined
      const record = await rawRecord(readable, row, context, longest)
      return record?.cut === undefined ? record : undefined
    },
  }
}

async function* startedContent(at: SessionAt, context: AppContext): AsyncGenerator<SessionContent> {
  for await (const one of startedBy(at, context)) if (one !== undefined) yield readerContent(one, context)
}

async function* startedExported(at: SessionAt, context: AppContext): AsyncGenerator<Exported | undefined> {
  for await (const one of startedBy(at, context)) yield one && toExported(one, context)
}

function toExported({ found, listed, outline }: SessionAt, { redactor }: AppContext): Exported {
  const { did: _, ...facts } = { did: undefined, ...(listed ?? { id: found.id, status: 'running' as const }) }
  return { session: withoutSecrets(facts, redactor), items: outline.items() }
}

/** Sessions that go along: those that it started, and those that they started, the nearest first. */
const MOST_STARTED = 100

/** Undefined for each that there is no room for, or that cannot be read. */
async function* startedBy(at: SessionAt, context: AppContext): AsyncGenerator<SessionAt | undefined> {
  const seen = new Set([at.found.key])
  const waiting = [at]
  for (const one of waiting) {
    const { children } = await sessionAnswer(one, one.outline, context)
    for (const { id } of children) {
      const child =
        seen.size > MOST_STARTED ? undefined : await sessionById(id, context).catch(() => undefined)
      if (child !== undefined && seen.has(child.found.key)) continue
      if (child !== undefined) {
        seen.add(child.found.key)
        waiting.push(child)
      }
      yield child
    }
  }
}

/** What is still being outlined is waited for, as long as it gets on: a file must not be the beginning of a session. */
async function wholeOutline(at: SessionAt): Promise<Outline> {
  let { outline } = at
  for (let before = -1; ; before = outline.length) {
    outline = await outline.reach(Number.MAX_SAFE_INTEGER, PATIENCE_MS)
    if (outline.state === 'ready') return outline
    if (outline.length <= before)
      throw new HansardError('locked', 'the session is still being read', { hint: 'try again in a moment' })
  }
}

/** A name for the file, whatever the id is made of. */
export const exportName = (id: string, as: ExportAs): string =>
  `hansard-${id.replaceAll(/[^\w.-]/g, '_').slice(0, 100)}.${ENDINGS[as]}`

const ENDINGS: { readonly [As in ExportAs]: string } = {
  html: 'html',
  md: 'md',
  text: 'txt',
  json: 'json',
  asciicast: 'cast',
}
