/** Checks formats that people name on the command line: a wrong name is wrong usage, and nothing is begun. Loads them only then. */
import type { Format } from '../formats/format.ts'
import { printError, WRONG_USAGE } from './print.ts'

type Names = readonly (string | undefined)[]

/** False when it was said that one of them is no format. */
export async function areFormats(names: Names, json: boolean): Promise<boolean> {
  return areRight(names, json, async () => {
    const { getFormat } = await import('../sources/detect.ts')
    const { allFormats } = await import('../sources/formats.ts')
    return (name) => getFormat(name, allFormats)
  })
}

/** False when it was said that one of them cannot be written. `among`: those that are written beside a journal when absent. */
export async function areWritten(
  names: Names = [],
  json: boolean = false,
  among?: readonly Format[],
): Promise<boolean> {
  return areRight(names, json, async () => {
    const { findWritten } = await import('../formats/written-format.ts')
    const formats = among ?? (await import('../formats/index.ts')).formats
    return (name) => findWritten(name, formats)
  })
}

async function areRight(
  names: Names,
  json: boolean,
  load: () => Promise<(name: string) => unknown>,
): Promise<boolean> {
  const given = names.filter((name) => name !== undefined)
  if (given.length === 0) return true
  const check = await load()
  try {
    for (const name of given) check(name)
    return true
  } catch (error) {
    await printError(error, json, WRONG_USAGE)
    return false
  }
}
