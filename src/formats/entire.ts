/**
 * Entire: `full.jsonl` as forgeflare writes it, read and written, and Entire's own checkpoints, read: chunks, subagents, metadata,
 * hash, and the compact transcript. What a `full.jsonl` holds is told by its content: a checkpoint's labels are not believed, and
 * another agent's document inside is read as that agent's, or, where nobody knows it, kept record by record.
 */
import { counted } from '../transcript/counted.ts'
import type { Source } from '../transcript/source.ts'
import { isFlatLine, isDated } from './claude-facts.ts'
import { isCheckpoint } from './entire-checkpoint.ts'
import { isCompactLine } from './entire-compact.ts'
import { findFolders, isAbove, type SessionFolder } from './entire-folders.ts'
import { readFolder } from './entire-read.ts'
import { entireWriter } from './entire-write.ts'
import type { Detection, Format } from './format.ts'
import { readHead, type Head } from './head-records.ts'
import { PLACES } from './places.ts'

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
  async *read(source, options) {
    const taken = new Set<string>()
    const folders = await findFolders(source)
    let above: SessionFolder | undefined
    for (const [index, folder] of folders.entries()) {
      // A checkpoint's own metadata stands above those of its sessions, and goes with the first of them.
      if (isAbove(folder, folders[index + 1])) {
        above = folder
        continue
      }
      yield* readFolder(folder, { ...options, taken, ...(above?.metadata && { above: above.metadata }) })
      above = undefined
    }
  },
  write: entireWriter,
  places: PLACES.entire,
  unit: ({ path }) => unitOf(path),
}

const OWN_NAME =
  /^(?:full\.(?:jsonl|log)(?:\.\d+)?|transcript\.jsonl|metadata\.json|(?:prompt|summary|content_hash)\.txt|context\.md)$/

/** A session's folder; of a checkpoint's `0/`, `1/`, … the folder that its own metadata is in. A log of another name is alone. */
function unitOf(path: string): string {
  const above = path.search(/(?:^|\/)(?:older|checkpoints|tasks)\//)
  const slash = path.lastIndexOf('/')
  if (above === -1 && !OWN_NAME.test(path.slice(slash + 1))) return path
  const folder = path.slice(0, above === -1 ? Math.max(0, slash) : above)
  return folder.replace(/(?:^|\/)\d{1,4}$/, '') || '.'
}

/** Files of a folder looked at to tell whose it is. */
const LOOKED_AT = 20

async function candidates(source: Source) {
  const folders = await findFolders(source)
  return folders.flatMap(({ metadata, full, compact, checkpoints }) =>
    [metadata, full[0], compact, checkpoints[0]?.files.get('metadata.json')].filter(
      (file) => file !== undefined,
    ),
  )
}

function detectHead({ records, document, strange }: Head): Detection | undefined {
  if (isCheckpoint(document)) return { confidence: 0.97, reason: "a checkpoint's metadata" }
  const compact = records.filter(isCompactLine).length
  const flat = records.filter(isFlatLine)
  const others = records.length + strange
  if (compact > 0 && compact * 2 > others)
    return { confidence: 0.95, reason: counted(compact, 'compact line') }
  if (flat.length === 0 || flat.length * 2 <= others) return undefined
  const dated = flat.some(({ sessionId }) => typeof sessionId === 'string' && isDated(sessionId))
  return { confidence: dated ? 0.96 : 0.85, reason: `${counted(flat.length, 'line')} with forgeflare's keys` }
}
