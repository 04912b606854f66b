/**
 * Which files of a folder are looked at to tell whose it is: those with something in them, lines before documents before the rest, and
 * not many. Agents' folders also hold empty logs, prompts and settings, and these often come first by name.
 */
import type { Source, SourceFile } from '../transcript/source.ts'
import type { Detection } from './format.ts'

const LOOKED_AT = 20

/** The surest of what `look` says of the files that pass for candidates. A file that was named is always one. */
export async function detectAmong(
  source: Source,
  look: (file: SourceFile) => Promise<Detection | undefined>,
  isCandidate: (file: SourceFile) => boolean = () => true,
): Promise<Detection | undefined> {
  let best: Detection | undefined
  for (const file of choose(source.kind, await source.list(), isCandidate)) {
    const found = await look(file)
    if (found === undefined || found.confidence <= (best?.confidence ?? 0)) continue
    best = { confidence: found.confidence, reason: found.reason }
  }
  return best
}

function choose(
  kind: Source['kind'],
  files: readonly SourceFile[],
  isCandidate: (file: SourceFile) => boolean,
): readonly SourceFile[] {
  if (kind === 'file') return files
  const ranks: [SourceFile[], SourceFile[], SourceFile[]] = [[], [], []]
  for (const file of files) {
    const rank = ranks[rankOf(file)]
    if (rank.length < LOOKED_AT && file.sizeBytes > 0 && isCandidate(file)) rank.push(file)
  }
  return ranks.flat().slice(0, LOOKED_AT)
}

/** So many that stand for all of them: the largest, for transcripts are, and of the others the first, the last, and some between. */
export function chooseFiles(files: readonly SourceFile[], most: number): readonly SourceFile[] {
  const held = files.filter(({ sizeBytes }) => sizeBytes > 0)
  const ranks = held.map(rankOf)
  const likely = held.filter((_, index) => (ranks[index] ?? 2) < 2)
  const largest = likely.toSorted((a, b) => b.sizeBytes - a.sizeBytes).slice(0, most >> 1)
  const chosen = new Set(largest)
  for (const rank of [0, 1, 2]) {
    const others = held.filter((file, index) => ranks[index] === rank && !chosen.has(file))
    const count = Math.min(others.length, most - chosen.size)
    const step = count > 1 ? (others.length - 1) / (count - 1) : 0
    for (let n = 0; n < count; n += 1) chosen.add(others[Math.round(n * step)] as SourceFile)
  }
  return [...chosen]
}

/** The order of looking only: what a file is, its content tells. */
function rankOf({ path }: SourceFile): 0 | 1 | 2 {
  if (/\.jsonl(\.(zst|gz))?$/.test(path)) return 0
  return /\.(json|txt|db|vscdb)$/.test(path) ? 1 : 2
}
