/** Logs below a folder as if they grew, each with what belongs to it: what is read on against the whole, at some moments. */
import fs from 'node:fs'
import { join } from 'node:path'
import { loadFormat } from '../src/sources/load-format.ts'
import { openSource } from '../src/sources/open.ts'
import type { Coverage } from './coverage.ts'
import { checkFollowed, grownTo } from './followed-logs.ts'

export type GrowthCheck = {
  readonly logs: number
  readonly moments: number
  /** At which what came was enough. */
  readonly sure: number
  readonly differing: readonly string[]
}

const MOMENTS = 6
/** Ways in which files that belong together may have come. */
const STORIES = 5

/** `rows`: each file, and what it is in. */
export async function checkFollowedBelow(
  root: string,
  rows: readonly Pick<Coverage, 'file' | 'format'>[],
): Promise<GrowthCheck> {
  const units = new Map<string, { readonly format: string; readonly files: Map<string, Buffer> }>()
  for (const { file, format } of rows) {
    const own = await loadFormat(format)
    if (own.follow === undefined) continue
    const [source] = await (await openSource(join(root, file))).list()
    const unit = source === undefined ? file : ((await own.unit?.({ ...source, path: file })) ?? file)
    const key = `${format}\n${unit}`
    const known = units.get(key) ?? { format, files: new Map<string, Buffer>() }
    known.files.set(file, fs.readFileSync(join(root, file)))
    units.set(key, known)
  }
  let [moments, sure] = [0, 0]
  const differing: string[] = []
  for (const [key, { format, files }] of units) {
    const main = key.slice(key.indexOf('\n') + 1)
    if (!files.has(main)) continue
    for (let story = 0; story < (files.size > 1 ? STORIES : 1); story += 1) {
      const grown = grownTo(files, main, MOMENTS, story)
      const check = await checkFollowed(await loadFormat(format), grown)
      moments += grown.length
      sure += check.sure
      differing.push(...check.differing.map((one) => `${main}: ${one}`))
    }
  }
  return { logs: units.size, moments, sure, differing }
}
