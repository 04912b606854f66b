/** All that a state says, in no order, and without what tells one state from another: numbers of passes and rows. */
import type { Archive } from '../src/archive/archive.ts'
import { peekState } from '../src/sources/state.ts'

const TABLES = [
  'recordings',
  'calls',
  'mentions',
  'drift',
  'sessions',
  'listing',
  'listing_work',
  'tool_use',
  'sums',
  'findings',
]

/** Those that go by the number of a session's row. */
const OF_LISTING = ['listing_work', 'tool_use', 'findings']
const ASKED: ReadonlyMap<string, string> = new Map(
  OF_LISTING.map((table) => {
    const column = table === 'listing_work' ? 'n' : 'session'
    return [table, `SELECT t.*, l.key AS listed FROM ${table} t LEFT JOIN listing l ON l.n = t.${column}`]
  }),
)

/** Another one for each state, or for each time that something is read. */
const OWN = new Set(['n', 'id', 'reading', 'mark', 'calls_mark', 'ids', 'version'])

export async function stateWords(archive: Archive): Promise<readonly string[]> {
  const state = await peekState(archive)
  if (state === undefined) throw new Error('there is no state')
  try {
    return TABLES.flatMap((table) =>
      state.database
        .prepare(ASKED.get(table) ?? `SELECT * FROM ${table}`)
        .all()
        .map((row) => `${table} ${toWords(row)}`)
        .sort(),
    )
  } finally {
    state.close()
  }
}

function toWords(row: object): string {
  const said = Object.entries(row).filter(
    ([column, value]) => !OWN.has(column) && !(column === 'session' && typeof value === 'number'),
  )
  return JSON.stringify(said.map(([column, value]) => [column, inOrder(parsed(value))]))
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^[[{]/.test(value))
    return typeof value === 'bigint' ? String(value) : value
  return JSON.parse(value) as unknown
}

/** Which file was read first is no fact: lists of names are in no order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) {
    const list = value.map(inOrder)
    return list.every((one) => typeof one === 'string') ? list.toSorted() : list
  }
  if (typeof value !== 'object' || value === null) return value
  const pairs = Object.entries(value).map(([name, one]) => [name, inOrder(one)] as const)
  return Object.fromEntries(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
