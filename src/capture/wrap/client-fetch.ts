/** The clients that Stainless makes, `openai` and `@anthropic-ai/sdk` among them, ask through a field of their own named `fetch`. */
import type { WrapLog } from './wrap-log.ts'

/**
 * The same client, recorded from now on, with its type, its helpers, its retries. Copies that it makes of itself are recorded too. One
 * without such a field is given back as it is, and that is said.
 */
export function recordClient<T extends object>(client: T, log: WrapLog): T {
  const fetch: unknown = 'fetch' in client ? client.fetch : undefined
  if (typeof fetch !== 'function') {
    log.report.misuse(
      'this client has no fetch of its own that could be recorded: its calls are not recorded',
    )
    return client
  }
  log.report.guard('the calls of a client', () => {
    Object.assign(client, { fetch: log.fetch(fetch as () => Promise<unknown>) })
  })()
  return client
}
