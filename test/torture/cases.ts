/** The whole torture set, in the order of the table in `docs/truth.md`. */
import type { TortureCase } from './case.ts'
import { codexCases } from './codex.ts'

export const tortureCases: readonly TortureCase[] = [...codexCases]
