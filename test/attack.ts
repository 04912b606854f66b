/** What an attack that is tried again consists of. The list of all of them is in security-proofs.ts. */

export type Attack = {
  /** What holds, as a row of `npm run proof` has it: `terminal: invisible characters are shown`. */
  readonly name: string
  readonly prove: () => Promise<Outcome>
}

export type Outcome = {
  /** How many payloads were tried. */
  readonly tried: number
  /** Payloads that got through, in words. */
  readonly broken: readonly string[]
}

/** Tries payloads one after the other. `breaks` returns what got through, or undefined when the payload did nothing. */
export async function tryEach<T>(
  payloads: Iterable<T>,
  breaks: (payload: T) => string | undefined | Promise<string | undefined>,
): Promise<Outcome> {
  const broken: string[] = []
  let tried = 0
  for (const payload of payloads) {
    tried += 1
    const problem = await breaks(payload)
    if (problem !== undefined) broken.push(`${JSON.stringify(payload)}: ${problem}`)
  }
  return { tried, broken }
}
