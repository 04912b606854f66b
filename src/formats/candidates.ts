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

/** Of each sort of file, and in all: more than any format looks at. */
const OF_A_SORT = 50
const OF_ALL_SORTS = 5000

/**
 * Those that stand for files which are too many to be held: some of each sort, by which folder below the one that all are in they lie in,
 * how deep, how their names end, and whether anything is in them. Sorted as they are.
 */
export function someOfEachSort(files: readonly SourceFile[]): readonly SourceFile[] {
  const [first, last] = [files[0], files[files.length - 1]]
  const above = first === undefined || last === undefined ? '' : folderOf(first.path, last.path)
  const sorts = new Map<string, SourceFile[]>()
  let count = 0
  for (const file of files) {
    const names = file.path.slice(above.length).split('/')
    const [ending = ''] = /\.[^.]*$/.exec(names.at(-1) as string) ?? []
    const sort = `${names.length > 1 ? names[0] : ''}/${names.length}/${ending}/${file.sizeBytes > 0}`
    const known = sorts.get(sort)
    if ((known?.length ?? 0) >= OF_A_SORT || count >= OF_ALL_SORTS) continue
    count += 1
    if (known === undefined) sorts.set(sort, [file])
    else known.push(file)
  }
  return [...sorts.values()].flat().sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** With its `/`: what both lie below. */
function folderOf(one: string, other: string): string {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return one.slice(0, one.lastIndexOf('/', length - 1) + 1)
}

/** The order of looking only: what a file is, its content tells. */
function rankOf({ path }: SourceFile): 0 | 1 | 2 {
  if (/\.jsonl(\.(zst|gz))?$/.test(path)) return 0
  return /\.(json|txt|db|vscdb)$/.test(path) ? 1 : 2
}
