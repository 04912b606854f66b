/** Settings that are not what they should be: what is wrong, and in which line. */
export class Unreadable extends Error {
  readonly at: number
  constructor(problem: string, at: number) {
    super(problem)
    this.at = at
  }
}

export type SettingsProblem = { readonly problem: string; readonly line: number }

/** Of what was thrown while the text was read. What is no `Unreadable` is thrown on. */
export function toProblem(error: unknown, text: string): SettingsProblem {
  if (!(error instanceof Unreadable)) throw error
  return { problem: error.message, line: text.slice(0, error.at).split('\n').length }
}
