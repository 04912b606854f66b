/**
 * Entire: `full.jsonl` as forgeflare writes it, read and written, and Entire's own checkpoints, read: chunks, subagents, metadata,
 * hash, and the compact transcript. What a `full.jsonl` holds is told by its content: a checkpoint's labels are not believed, and
 * another agent's document inside is read as that agent's, or, where nobody knows it, kept record by record.
 */
import type { Source } from '../transcript/source.ts'
import { isFlatLine, isDated } from './claude-facts.ts'
import { isCheckpoint } from './entire-checkpoint.ts'
import { isCompactLine } from './entire-compact.ts'
import { findFolders, isAbove, type SessionFolder } from './entire-folders.ts'
import { readFolder } from './entire-read.ts'
import { entireWriter } from './entire-write.ts'
import type { Detection, Format } from './format.ts'
import { readHead, type Head } from './head-records.ts'

export const entire: Format = {
  id: 'entire',
  title: 'Entire: full.jsonl as forgeflare writes it, and Entire’s checkpoints',
  async detect(source) {
    let best: Detection | undefined
    for (const file of (await candidates(source)).slice(0, LOOKED_AT)) {
      const found = detectHead(await readHead(file))
      if (found !== undefined && found.confidence > (best?.confidence ?? 0)) best = found
    }
    return best
  },
  async *read(source) {
    const taken = new Set<string>()
    const folders = await findFolders(source)
    let above: SessionFolder | undefined
    for (const [index, folder] of folders.entries()) {
      // A checkpoint's own metadata stands above those of its sessions, and goes with the first of them.
      if (isAbove(folder, folders[index + 1])) {
        above = folder
        continue
      }
      yield* readFolder(folder, { taken, ...(above?.metadata && { above: above.metadata }) })
      above = undefined
    }
  },
  write: entireWriter,
}

/** Files of a folder looked at to tell whose it is. */
const LOOKED_AT = 20

async function candidates(source: Source) {
  const folders = await findFolders(source)
  return folders.flatMap(({ metadata, full, compact }) =>
    [metadata, full[0], compact].filter((file) => file !== undefined),
  )
}

function detectHead({ records, document, strange }: Head): Detection | undefined {
  if (isCheckpoint(document)) return { confidence: 0.97, reason: "a checkpoint's metadata" }
  const compact = records.filter(isCompactLine).length
  const flat = records.filter(isFlatLine)
  const others = records.length + strange
  if (compact > 0 && compact * 2 > others) return { confidence: 0.95, reason: `${compact} compact lines` }
  if (flat.length === 0 || flat.length * 2 <= others) return undefined
  const dated = flat.some(({ sessionId }) => typeof sessionId === 'string' && isDated(sessionId))
  return { confidence: dated ? 0.96 : 0.85, reason: `${flat.length} lines with forgeflare's keys` }
}
