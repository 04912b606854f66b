/** From one session to the next, in the order of the list that it was opened from; without one, from the newest to the oldest. */
import { ask } from '../../api.ts'
import { navigate } from '../../router.ts'
import { announce } from '../../state/announce.ts'
import { rememberedList } from '../sessions/list.ts'

const MOST = '1000'

export async function goBeside(id: string, step: 1 | -1): Promise<void> {
  const next = besideIn(rememberedList(), id, step) ?? (await besideInAll(id, step))
  if (next !== undefined) navigate({ view: 'session', id: next })
  else announce(step === 1 ? 'This is the last session' : 'This is the first session')
}

type Rows = readonly ({ readonly id: string } | undefined)[]

function besideIn(rows: Rows, id: string, step: 1 | -1): string | undefined {
  const at = rows.findIndex((row) => row?.id === id)
  return at === -1 ? undefined : rows[at + step]?.id
}

async function besideInAll(id: string, step: 1 | -1): Promise<string | undefined> {
  const answer = await ask.sessions({ limit: MOST })
  return answer.ok ? besideIn(answer.value.sessions, id, step) : undefined
}
