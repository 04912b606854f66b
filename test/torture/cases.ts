/** The whole torture set, in the order of the table in `docs/truth.md`. */
import type { TortureCase } from './case.ts'
import { claudeCases } from './claude.ts'
import { clineCases } from './cline.ts'
import { codexCases } from './codex.ts'
import { copilotCases } from './copilot.ts'
import { entireCases } from './entire.ts'
import { geminiCases } from './gemini.ts'
import { opencodeCases } from './opencode.ts'
import { piCases } from './pi.ts'

export const tortureCases: readonly TortureCase[] = [
  ...claudeCases,
  ...entireCases,
  ...codexCases,
  ...geminiCases,
  ...opencodeCases,
  ...piCases,
  ...copilotCases,
  ...clineCases,
]
