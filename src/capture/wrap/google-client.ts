/** The client of `@google/genai` asks through an object of its own, which all its parts share. */
import type { AnyFetch } from './observe-fetch.ts'
import type { WrapLog } from './wrap-log.ts'

/** Which argument of `apiCall` is the fetch to ask with, since there is one. */
const FETCH_AT = 5

/**
 * The same client, recorded from now on. Its option for a fetch is left alone: with one, the client would give up settings of its own,
 * such as having no time limit.
 */
export function recordGoogle<T extends object>(client: T, log: WrapLog): T {
  const api: unknown = 'apiClient' in client ? client.apiClient : undefined
  if (!isApiClient(api)) {
    log.report.misuse('this client is none of @google/genai that we know: its calls are not recorded')
    return client
  }
  log.report.guard('the calls of a client', () => {
    const call = api.apiCall.bind(api)
    // Older ones ask the platform's fetch and nobody else: the whole call is then what is recorded.
    const takesFetch = typeof api.getFetch === 'function'
    api.apiCall = takesFetch
      ? (...args: unknown[]) => {
          const given = args[FETCH_AT]
          const inner = typeof given === 'function' ? (given as AnyFetch) : globalThis.fetch
          const all = Array.from({ length: Math.max(args.length, FETCH_AT + 1) }, (_, at) => args[at])
          all[FETCH_AT] = log.fetch(inner)
          return call(...all)
        }
      : log.fetch(call)
  })()
  return client
}

type ApiClient = { apiCall: (...args: unknown[]) => Promise<unknown>; readonly getFetch?: unknown }

function isApiClient(value: unknown): value is ApiClient {
  return (
    typeof value === 'object' && value !== null && 'apiCall' in value && typeof value.apiCall === 'function'
  )
}
