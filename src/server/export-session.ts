/** A session of the archive as one file, for whoever asks: the route, and `hansard export`. Made as it is taken; nothing is held whole. */
import { HansardError } from '../errors.ts'
import type { Outline } from '../search/outline-now.ts'
import type { AppContext } from './context.ts'
import { loadReader, readerParts } from './export-reader.ts'
import { exportSession } from './export.ts'
import { outlineAnswer, rowsOf, sessionAnswer } from './routes-entries.ts'
import { insightAnswer } from './routes-insight.ts'
import { withoutSecrets } from './rows.ts'
import { safeBlob } from './safe-blob.ts'
import { PATIENCE_MS, type SessionAt } from './session-at.ts'

export const EXPORTS = ['html', 'md', 'json'] as const
export type ExportAs = (typeof EXPORTS)[number]

/** A page with the reader in it; where that was not built, one without a script. */
export async function exportParts(
  as: ExportAs,
  at: SessionAt,
  context: AppContext,
): Promise<AsyncGenerator<string>> {
  const { redactor, options } = context
  const reader = as === 'html' ? loadReader(options.webFolder) : undefined
  if (reader !== undefined) {
    const outline = await wholeOutline(at)
    const length = outline.length
    return readerParts(reader, {
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
      blob: (hash) => safeBlob(hash, context),
      at: new Date().toISOString(),
    })
  }
  const { found, listed, outline } = at
  const { did: _, ...facts } = { did: undefined, ...(listed ?? { id: found.id, status: 'running' as const }) }
  return exportSession(as, {
    session: withoutSecrets(facts, redactor),
    items: outline.items(),
    ...(options.utc && { timeZone: 'UTC' }),
  })
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
  `hansard-${id.replaceAll(/[^\w.-]/g, '_').slice(0, 100)}.${as}`
