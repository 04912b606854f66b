/** The headers of a message without those of the connection that it came by, in the order and the letters in which they came. */

/** Of one connection, and not of the message: RFC 9110 §7.6.1. `expect` was answered by Node.js. */
const OF_A_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'transfer-encoding',
  'upgrade',
  'expect',
])

/** Order, case and repetition as they came. */
export function toUpstream(raw: readonly string[], host: string): string[] {
  const kept = withoutConnection(raw)
  const own = kept.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  if (own === -1) kept.unshift('Host', host)
  else kept[own + 1] = host
  return kept
}

export function withoutConnection(raw: readonly string[]): string[] {
  const named = new Set<string>()
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]?.toLowerCase() === 'connection')
      for (const one of (raw[at + 1] ?? '').split(',')) named.add(one.trim().toLowerCase())
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string
    const lower = name.toLowerCase()
    if (OF_A_CONNECTION.has(lower) || named.has(lower)) continue
    kept.push(name, raw[at + 1] as string)
  }
  return kept
}

export function toPairs(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let at = 0; at < raw.length; at += 2) pairs.push([raw[at] as string, raw[at + 1] as string])
  return pairs
}
