/** What costs can be grouped by. Alone in its file: the command line names them before anything is loaded. */

export const PERIODS = ['day', 'week', 'month'] as const
export type Period = (typeof PERIODS)[number]

export const COST_BY = [
  ...PERIODS,
  'session',
  'model',
  'agent',
  'project',
  'run',
  'flow',
  'step',
  'source',
  'tool',
] as const
export type CostBy = (typeof COST_BY)[number]

/** So many US dollars × 10⁻¹² in each period. */
export type Budget = { readonly pico: bigint; readonly per: Period }
