/** Formats that people name on the command line: one that there is not is wrong usage, and nothing is begun. */
import { getFormat } from '../sources/detect.ts'
import { allFormats } from '../sources/formats.ts'
import { printError, WRONG_USAGE } from './print.ts'

/** False when it was said that one of them is no format. */
export async function areFormats(names: readonly (string | undefined)[], json: boolean): Promise<boolean> {
  try {
    for (const name of names) if (name !== undefined) getFormat(name, allFormats)
    return true
  } catch (error) {
    await printError(error, json, WRONG_USAGE)
    return false
  }
}
