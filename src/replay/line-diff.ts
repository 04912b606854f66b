/** Which lines went and which came, in the order of reading. */

export type DiffLine = { readonly sign: ' ' | '-' | '+'; readonly line: string }

/** Past so many cells all lines that differ are shown as gone and come: still true, and soon. */
const MOST_CELLS = 400_000

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const old = before.split('\n')
  const now = after.split('\n')
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let end = 0
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end += 1
  const same = (line: string): DiffLine => ({ sign: ' ', line })
  return [
    ...old.slice(0, start).map(same),
    ...differing(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(same),
  ]
}

function differing(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  const gone = old.map((line): DiffLine => ({ sign: '-', line }))
  const come = now.map((line): DiffLine => ({ sign: '+', line }))
  if (old.length * now.length > MOST_CELLS || old.length === 0 || now.length === 0) return [...gone, ...come]
  const width = now.length + 1
  // The longest common run of lines from each pair of places on.
  const common = new Uint32Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        old[i] === now[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0)
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ sign: ' ', line: old[i] ?? '' })
      i += 1
      j += 1
    } else if (
      j >= now.length ||
      (i < old.length && (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      lines.push(gone[i] as DiffLine)
      i += 1
    } else {
      lines.push(come[j] as DiffLine)
      j += 1
    }
  }
  return lines
}
