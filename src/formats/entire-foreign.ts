/**
 * Another agent's document inside a checkpoint, read by the format that knows its content, whatever the checkpoint calls it. Its
 * entries are that format's own; what stands beside the document is numbered after them.
 */
import { PRIMARY } from '../transcript/entry.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { codex } from './codex.ts'
import { copilotCli } from './copilot-cli.ts'
import { cursor } from './cursor.ts'
import { createFresh } from './entire-older.ts'
import type { Format, ReadItem, ReadOptions } from './format.ts'
import { geminiCli } from './gemini-cli.ts'
import { letGo } from './let-go.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'

/** The agents whose documents and logs Entire stores as they are. */
const FOREIGN: readonly Format[] = [geminiCli, opencode, codex, copilotCli, cursor, pi]

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

/** The document's items, and of older ones what it lacks. */
export async function* readForeign(
  { format, source }: Foreign,
  older: readonly SourceFile[],
  options: ReadOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const fresh = older.length === 0 ? undefined : createFresh()
  for await (const items of format.read(source, options)) {
    items.forEach((item) => fresh?.see(item))
    yield items
  }
  for (const file of older) {
    const found = await findForeign(file)
    for await (const items of found?.format.read(found.source) ?? []) {
      const taken = items.flatMap((item) => fresh?.take(item) ?? [])
      yield taken
      letGo(items, taken)
    }
  }
}

/** The same item behind that many entries of the primary source. */
export function numberedAfter(item: ReadItem, count: number): ReadItem {
  if (item.type !== 'entry' || item.entry.source !== PRIMARY || count === 0) return item
  const sequence = item.entry.sequence + count
  return { type: 'entry', entry: { ...item.entry, id: `entire/${sequence}`, sequence } }
}
