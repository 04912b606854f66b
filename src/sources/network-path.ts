/** `\\host\share`: on Windows, looking at it asks the host. Hansard makes no calls that nobody asked for. */
export function isNetworkPath(path: string): boolean {
  return /^\s*[\\/]{2}/.test(path)
}
