/**
 * The sessions of a file that are still known, the last ones: a file may hold a million, and each is kilobytes. One that comes again
 * after so many others is told as a session of its own.
 */
const MOST = 1000

/** Puts one last, as what is used now, and forgets what nobody used for longest. */
export function keepLast<T>(known: Map<string, T>, name: string, value: T, most: number = MOST): void {
  known.delete(name)
  known.set(name, value)
  if (known.size <= most) return
  const [oldest] = known.keys()
  if (oldest !== undefined) known.delete(oldest)
}
