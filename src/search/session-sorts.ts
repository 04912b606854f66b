/** What sessions can be sorted by. Alone in its file: the command line names them before anything is loaded. */

export const SESSION_SORTS = [
  'newest',
  'oldest',
  'cost',
  'tokens',
  'duration',
  'entries',
  'tools',
  'errors',
  'title',
] as const
export type SessionSort = (typeof SESSION_SORTS)[number]
