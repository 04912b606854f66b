/** The whole torture set, in the order of the table in `docs/truth.md`. */
import type { TortureCase } from './case.ts'
import { claudeCases, entireCases } from './claude.ts'
import { codexCases } from './codex.ts'
import { copilotCases } from './copilot.ts'
import { geminiCases, opencodeCases, piCases } from './others.ts'

export const tortureCases: readonly TortureCase[] = [
  ...claudeCases,
  ...entireCases,
  ...codexCases,
  ...geminiCases,
  ...opencodeCases,
  ...piCases,
  ...copilotCases,
]
