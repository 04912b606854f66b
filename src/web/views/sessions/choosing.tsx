/** Two sessions of the list, chosen to be compared. The address holds which, so that they may be chosen on different pages of it. */
import { navigate, setParams } from '../../router.ts'
import { announce } from '../../state/announce.ts'
import { Button } from '../../ui/button.tsx'

export type Choosing = {
  readonly isOn: boolean
  readonly ids: readonly string[]
  turn(id: string): void
}

export function choosingOf(params: URLSearchParams): Choosing {
  const ids = [...new Set(params.getAll('pick'))].slice(0, 2)
  return {
    isOn: ids.length > 0 || params.has('compare'),
    ids,
    turn(id) {
      // The one that was chosen last stays with the next.
      const next = ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id].slice(-2)
      setParams({ pick: next, compare: '1' })
      announce(`${next.length} of 2 chosen`)
    },
  }
}

export function compareChosen({ ids: [a, b] }: Choosing): boolean | void {
  if (a === undefined || b === undefined) return false
  navigate({ view: 'diff', params: { a, b } })
}

export function CompareButton({ choosing }: { readonly choosing: Choosing }) {
  const { isOn, ids } = choosing
  if (!isOn)
    return (
      <Button title="Choose two sessions (c)" onClick={() => setParams({ compare: '1' })}>
        Compare
      </Button>
    )
  return (
    <span class="sessions-compare">
      <Button
        kind="primary"
        disabled={ids.length < 2}
        title="The two that are chosen, beside each other (C)"
        onClick={() => void compareChosen(choosing)}
      >
        Compare ({ids.length} of 2)
      </Button>
      <Button
        kind="icon"
        label="Choose none"
        onClick={() => setParams({ compare: undefined, pick: undefined })}
      >
        ✕
      </Button>
    </span>
  )
}
