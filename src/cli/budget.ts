/**
 * Output that fits into an agent's context: so many tokens and never more. Tokenizers differ and none is asked: a token is taken
 * to be three bytes of UTF-8 of what is printed, which is more tokens than most texts have. An estimate, and said to be one.
 */
import { HansardError } from '../errors.ts'

export const TOKEN_BYTES = 3
export const ESTIMATE = 'a token for every 3 bytes of UTF-8 that are printed'
/** Less would not hold what must be said of any answer. */
const LEAST = 400

export function budgetBytes(tokens: number): number {
  if (tokens >= LEAST) return tokens * TOKEN_BYTES
  throw new HansardError('invalid-argument', `a budget of ${tokens} tokens holds no answer`, {
    hint: `--budget-tokens takes ${LEAST} or more`,
  })
}

export function tokensOf(bytes: number): number {
  return Math.ceil(bytes / TOKEN_BYTES)
}

/** The beginning of a text, and how much of it was left out; no character cut in two. */
export function cutText(text: string, characters: number): string {
  if (text.length <= characters) return text
  let end = Math.max(0, characters)
  const code = text.charCodeAt(end)
  if (code >= 0xdc00 && code <= 0xdfff) end -= 1
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}
