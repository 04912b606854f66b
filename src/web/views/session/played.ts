/** A session up to a moment: what came later is not there yet. Made for every entry that comes, so it takes no time. */
import type { Rows } from './rows.ts'
import type { SessionStore } from './store.ts'

export function playedRows(rows: Rows, moment: number): Rows {
  if (rows.count === 0) return rows
  const last = rows.indexOf(moment)
  // Filters may have left nothing of what has come.
  const count = rows.at(last).position > moment ? 0 : last + 1
  return {
    count,
    at(index) {
      const row = rows.at(index)
      if (row.lane === undefined || row.position + row.lane.count - 1 <= moment) return row
      return { ...row, lane: { ...row.lane, count: moment - row.position + 1 } }
    },
    indexOf: (position) => Math.max(0, Math.min(rows.indexOf(Math.min(position, moment)), count - 1)),
  }
}

/** Results that have not come are not shown with their calls. */
export function playedStore(store: SessionStore, moment: () => number | undefined): SessionStore {
  const { pages } = store
  return {
    ...store,
    pages: {
      ...pages,
      resultOf(source, callId) {
        const found = pages.resultOf(source, callId)
        return found === undefined || found.position > (moment() ?? Infinity) ? undefined : found
      },
    },
  }
}
