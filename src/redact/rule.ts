/** What a rule is: texts to look for, and what finds a secret where one of them stands. */

/** The secret is `text.slice(start, end)`; `rule` names what gave it away. */
export type Found = { readonly start: number; readonly end: number; readonly rule: string }

/** `isStart`: a word begins at `at` whatever stands before it: a secret that was found, or something that cannot be seen. */
export type Find = (text: string, at: number, isStart: boolean) => Found | undefined

export type Rule = {
  /** In lower case, found in either case. At least three characters. */
  readonly literals: readonly string[]
  /** Looks at a bounded stretch around the place, so that time stays linear. */
  readonly find: Find
  /** True when lines that were cut at a width must not be joined for it. */
  readonly byLines?: boolean
}

/** Finds what the first group of a sticky pattern holds. */
export function findGroup(
  pattern: RegExp,
  rule: string,
  accepts: (secret: string) => boolean = () => true,
): Find {
  return (text, at) => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    const secret = match?.[1]
    if (match === null || secret === undefined || secret.includes('[REDACTED:') || !accepts(secret))
      return undefined
    const start = at + match[0].lastIndexOf(secret)
    return { start, end: start + secret.length, rule }
  }
}
