/** Checks of a request's path, as it came and as servers behind us may decode it. */

/** Nobody encodes a path more often and means it. */
const MOST_DECODED = 3

/**
 * The path as it came, decoded once, twice and so on. Undefined for bad encoding and for a path that is encoded too often.
 * A percent sign that appears by decoding may be part of a name: decoding stops there.
 */
export function decodings(path: string): readonly string[] | undefined {
  const all = [path]
  for (let text = path; text.includes('%'); all.push(text)) {
    if (all.length > MOST_DECODED) return undefined
    const next = decodedOnce(text)
    if (next === undefined) return all.length > 1 ? all : undefined
    text = next
  }
  return all
}

/** Undefined for bad encoding. */
export function decodedOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** A parent folder, in any spelling that a server may read as one. Some servers cut a part at `;`. */
// oxlint-disable-next-line no-control-regex
const LEADS_OUT = /[\\\u0000-\u001f\u007f]|(?:^|\/)\.{1,2}(?:[/;?#]|$)/

/** True when no server can take the path for one above it. Encoded slashes are fine: ids of models have them. */
export function staysBelow(path: string): boolean {
  return decodings(path)?.every((text) => !LEADS_OUT.test(text)) ?? false
}
