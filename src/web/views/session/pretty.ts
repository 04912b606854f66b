/** JSON for the eye. Deeper than the stack reaches is not shown. */
export function pretty(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? ''
  } catch {
    return 'nested too deep to be shown'
  }
}
