/** What steps and their differences are called. */

export const STEP_KINDS = [
  'instruction',
  'prompt',
  'answer',
  'thinking',
  'call',
  'result',
  'image',
  'error',
  'record',
] as const
export type StepKind = (typeof STEP_KINDS)[number]

/** `changed`: one stands for the other. `gone`, `come`: only in A, only in B. `moved`: it says the same at another place. */
export const CHANGE_TYPES = ['changed', 'gone', 'come', 'moved'] as const
export type ChangeType = (typeof CHANGE_TYPES)[number]
