/** A session of the archive as one file, for whoever asks: the route, and `hansard export`. Made as it is taken; nothing is held whole. */
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
    const outline = await at.outline.reach(at.length, PATIENCE_MS)
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

/** A name for the file, whatever the id is made of. */
export const exportName = (id: string, as: ExportAs): string =>
  `hansard-${id.replaceAll(/[^\w.-]/g, '_').slice(0, 100)}.${as}`
