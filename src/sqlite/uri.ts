/** A path as SQLite's own kind of URI, the one way to ask for a database that nobody writes. */
export function toSqliteUri(path: string, query: string): string {
  const slashed = process.platform === 'win32' ? `/${path.replaceAll('\\', '/')}` : path
  return `file:${slashed.replace(/[%?#]/g, (found) => encodeURIComponent(found))}?${query}`
}
