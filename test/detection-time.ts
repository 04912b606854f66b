/** How long it takes to tell which of all formats a file is in: processor time, the least of many, opening it included. */
import { detect } from '../src/sources/detect.ts'
import { allFormats } from '../src/sources/formats.ts'
import { openSource } from '../src/sources/open.ts'

/** What telling a file's format may take. */
export const MOST_MS = 2
export const ROUNDS = 30

export type Detection = { readonly ms: number; readonly format: string | undefined }

export async function timeDetection(path: string, rounds: number): Promise<Detection> {
  let ms = Number.POSITIVE_INFINITY
  let format: string | undefined
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage()
    format = (await detect(await openSource(path), { formats: allFormats }))?.format.id
    const { user, system } = process.cpuUsage(before)
    ms = Math.min(ms, (user + system) / 1000)
  }
  return { ms, format }
}

/** The slowest last. */
export async function timeDetections(
  paths: readonly string[],
): Promise<readonly (Detection & { readonly path: string })[]> {
  // Whatever is first pays for what is compiled.
  for (const path of paths) await timeDetection(path, 1)
  const all: (Detection & { readonly path: string })[] = []
  for (const path of paths) all.push({ path, ...(await timeDetection(path, ROUNDS)) })
  return all.sort((a, b) => a.ms - b.ms)
}
