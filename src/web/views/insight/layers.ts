/** The tokens of a call divided among what the context was made of, as far as characters tell. */
import type { InsightAnswer } from '../../../server/api-cost.ts'

/** What no entry of the transcript shows. */
export const UNSEEN_PART = 'unseen'

/** Characters of a token, about: code and JSON have more tokens than prose. */
const CHARACTERS = 3.6

/** What is unseen first, then each of the parts. Together they are what the provider counted. */
export function layersOf({ input, characters = [] }: InsightAnswer['context'][number]): readonly number[] {
  const said = characters.map((count) => count / CHARACTERS)
  const sum = said.reduce((all, one) => all + one, 0)
  // More was said than was read: what was left out of the context nobody knows, so all parts shrink alike.
  const scale = sum > input && sum > 0 ? input / sum : 1
  return [Math.max(0, input - sum * scale), ...said.map((one) => one * scale)]
}
