/** What of a session is shown, as the address says it. Which entries call a tool is asked of the server. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { positionsOf } from './finding.ts'
import type { Filters } from './rows.ts'

const ONLY = ['error', 'edit', 'prompt', 'tool', 'thinking'] as const

/** `key`: empty where everything is shown. */
export function useFilters(
  id: string,
  params: URLSearchParams,
): { readonly filters: Filters; readonly key: string } {
  const tool = params.get('tool') ?? ''
  const [called, setCalled] = useState<{ readonly tool: string; readonly positions: ReadonlySet<number> }>()
  useEffect(() => {
    if (tool === '') return undefined
    const abort = new AbortController()
    void positionsOf(id, `tool:"${tool.replaceAll('"', '')}"`, abort.signal).then(({ positions }) => {
      if (!abort.signal.aborted) setCalled({ tool, positions: new Set(positions) })
    })
    return () => abort.abort()
  }, [id, tool])
  const roles = params.getAll('role')
  const only = ONLY.filter((flag) => params.getAll('only').includes(flag))
  const source = params.get('source') ?? undefined
  const positions = tool === '' || called?.tool !== tool ? undefined : called.positions
  const key = [...roles, ...only, source ?? '', positions === undefined ? '' : `${tool} ${positions.size}`]
    .join('\n')
    .trim()
  const filters = useMemo(
    () => ({ roles: new Set(roles), only: new Set(only), source, positions }),
    [key, positions],
  )
  return { filters, key }
}
