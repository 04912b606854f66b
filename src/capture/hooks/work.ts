/**
 * What hooks have asked for, done in a process of its own: one sync for all that waits, and once more for what was asked for
 * meanwhile. It dies without loss: what it was at is asked for still, and the next hook, or any sync, does it.
 */
import { counted } from '../../transcript/counted.ts'
import os from 'node:os'
import { openArchive } from '../../archive/archive.ts'
import { isHansardError, messageOf } from '../../errors.ts'
import type { FoundPlace } from '../../sources/places.ts'
import { sync, type SyncOptions } from '../../sources/sync.ts'
import { noteFailure } from './failures.ts'
import {
  claimWork,
  dropTickets,
  hasWaiting,
  holdsWork,
  readTicket,
  releaseWork,
  takeTickets,
  type Ticket,
} from './queue.ts'
import { toPlaces } from './transcript.ts'

export type WorkOptions = Pick<SyncOptions, 'keep' | 'exclude'> & {
  /** How long another sync may take. */
  readonly patienceMs?: number
}

/** How long whoever started this process may take to say that the work is ours. */
const HANDOVER_MS = 3000
/** Another sync may be the first of all. */
const PATIENCE_MS = 10 * 60_000

export async function work(home: string, options: WorkOptions = {}): Promise<void> {
  // An agent that is at work comes first.
  try {
    os.setPriority(10)
  } catch {
    // Not everywhere.
  }
  if (!(await isOurs(home))) return
  do {
    try {
      for (;;) {
        const { fresh, again, given } = takeTickets(home)
        if (fresh.length + again.length + given.length === 0) break
        if (given.length > 0)
          noteFailure(
            home,
            'hansard',
            `${counted(given.length, 'session')} could not be synced: no sync of them ended`,
          )
        dropTickets(home, given)
        for (const names of [fresh, ...again.map((name) => [name])]) {
          await syncAll(home, names, options)
          dropTickets(home, names)
        }
      }
    } catch (error) {
      // What was taken is asked for still.
      noteFailure(home, 'hansard', messageOf(error))
      return
    } finally {
      releaseWork(home)
    }
    // Asked for after the last look, by a hook that saw us at work.
  } while (hasWaiting(home) && claimWork(home))
}

async function isOurs(home: string): Promise<boolean> {
  const until = Date.now() + HANDOVER_MS
  while (!holdsWork(home)) {
    if (claimWork(home)) return true
    if (Date.now() > until) return false
    await new Promise((done) => setTimeout(done, 20))
  }
  return true
}

/** What cannot be synced is noted and let go: the next hook asks again, and a sync by hand finds all of it. */
async function syncAll(home: string, names: readonly string[], options: WorkOptions): Promise<void> {
  const tickets = names.flatMap((name) => readTicket(home, name) ?? [])
  const places = new Map<string, FoundPlace>()
  for (const ticket of tickets) {
    for (const place of placesOf(home, ticket)) {
      const key = `${place.agent}\n${place.root}`
      const before = places.get(key)
      const files = [...new Set([...(before?.files ?? []), ...place.files])]
      places.set(key, { ...place, files })
    }
  }
  if (places.size === 0) return
  const agents = [...new Set(tickets.map(({ agent }) => agent))].join(', ')
  try {
    const archive = openArchive(home, { write: true })
    const { patienceMs = PATIENCE_MS, keep, exclude } = options
    const report = await sync(archive, {
      places: [...places.values()],
      patienceMs,
      ...(keep !== undefined && { keep }),
      ...(exclude !== undefined && { exclude }),
    })
    for (const { cause, count, example } of report.problems)
      noteFailure(home, agents, `${cause}, ${count} times: ${example}`)
  } catch (error) {
    const hint = isHansardError(error) && error.hint !== undefined ? ` (${error.hint})` : ''
    noteFailure(home, agents, `${messageOf(error)}${hint}`)
  }
}

function placesOf(home: string, ticket: Ticket): readonly FoundPlace[] {
  const { places, problems } = toPlaces(ticket, {
    env: process.env,
    home: os.homedir(),
    platform: process.platform,
    now: new Date(),
  })
  for (const problem of problems) noteFailure(home, ticket.agent, problem)
  return places
}
