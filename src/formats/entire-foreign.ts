/**
 * Another agent's document inside a checkpoint, read by the format that knows its content, whatever the checkpoint calls it. Its
 * entries are that format's own; what stands beside the document is numbered after them.
 */
import { PRIMARY } from '../transcript/entry.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import type { Format, ReadItem } from './format.ts'
import { geminiCli } from './gemini-cli.ts'
import { opencode } from './opencode.ts'

/** The agents whose documents Entire stores whole. */
const FOREIGN: readonly Format[] = [geminiCli, opencode]

export type Foreign = { readonly format: Format; readonly source: Source }

/** Undefined when nobody knows the document: it is then kept record by record. */
export async function findForeign(file: SourceFile): Promise<Foreign | undefined> {
  const source: Source = {
    path: file.path,
    kind: 'file',
    list: async () => [file],
    find: async () => undefined,
  }
  let best: { readonly format: Format; readonly confidence: number } | undefined
  for (const format of FOREIGN) {
    const found = await format.detect(source)
    if (found !== undefined && found.confidence > (best?.confidence ?? 0))
      best = { format, confidence: found.confidence }
  }
  return best && { format: best.format, source }
}

/** The same item behind that many entries of the primary source. */
export function numberedAfter(item: ReadItem, count: number): ReadItem {
  if (item.type !== 'entry' || item.entry.source !== PRIMARY || count === 0) return item
  const sequence = item.entry.sequence + count
  return { type: 'entry', entry: { ...item.entry, id: `entire/${sequence}`, sequence } }
}
