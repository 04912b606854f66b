/** Patterns that people write on the command line or in their settings: one that is none is wrong usage, and nothing is begun. */
import os from 'node:os'
import { parseExclude } from '../sources/exclude.ts'
import { printError, WRONG_USAGE } from './print.ts'

/** False when it was said that one of them is no pattern. */
export async function arePatterns(patterns: readonly string[] | undefined, json: boolean): Promise<boolean> {
  try {
    parseExclude(patterns ?? [], { home: os.homedir() })
    return true
  } catch (error) {
    await printError(error, json, WRONG_USAGE)
    return false
  }
}
