/** What narrows a view down: a span of time and a query, both in the address. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../keys.ts'
import { setParams } from '../router.ts'
import { Chip } from '../ui/chip.tsx'

/** `''`: all of it. */
export const PERIODS = ['7d', '30d', '90d', ''] as const
const NAMES: Readonly<Record<string, string>> = {
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
  '': 'All',
}

export type Narrowed = { readonly q: string; readonly since: string; readonly until: string }

/** `period=all` is everything; what is not said is the last 30 days. */
export function narrowedBy(params: URLSearchParams): Narrowed {
  const period = params.get('period')
  const since = period === 'all' ? '' : (period ?? '30d')
  return { q: params.get('q') ?? '', since, until: params.get('until') ?? '' }
}

/** The same as a query of sessions, with more to narrow it down. */
export function toQuery({ q, since, until }: Narrowed, ...more: readonly string[]): string {
  const times = [...(since === '' ? [] : [`since:${since}`]), ...(until === '' ? [] : [`until:${until}`])]
  const own = /(^|\s)OR(\s|$)/.test(q) ? `(${q.trim()})` : q.trim()
  return [own, ...times, ...more].filter((part) => part !== '').join(' ')
}

export function Filters({ narrowed: { q, since } }: { readonly narrowed: Narrowed }) {
  const [typed, setTyped] = useState(q)
  const input = useRef<HTMLInputElement>(null)
  // The address changed by other means: a link, or going back.
  useEffect(() => setTyped(q), [q])
  useKeys('Filter', [{ keys: ['/'], says: 'Narrow down', run: () => input.current?.select() }])
  return (
    <div class="filters" role="search">
      <div class="filters-periods" role="group" aria-label="Period">
        {PERIODS.map((period) => (
          <Chip
            key={period}
            isPressed={since === period}
            onPress={() =>
              setParams({ period: period === '' ? 'all' : period, until: undefined }, { replace: false })
            }
          >
            {NAMES[period]}
          </Chip>
        ))}
        {!PERIODS.some((period) => period === since) && <Chip isPressed>{since}</Chip>}
      </div>
      <input
        ref={input}
        type="search"
        value={typed}
        maxLength={5000}
        spellcheck={false}
        aria-label="Only sessions that match"
        placeholder="project:shop model:opus run:… has:error"
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onChange={({ currentTarget }) => setParams({ q: currentTarget.value }, { replace: false })}
      />
    </div>
  )
}
