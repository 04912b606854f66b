/**
 * The regular files below a folder, in an order that does not depend on the machine. Links are not followed, so a link
 * cannot lead out or in a circle; folders that hold programs' parts, or what a conversion was making, are passed over.
 */
import type { Stats } from 'node:fs'
import fs from 'node:fs/promises'
import { join } from 'node:path'
import { isStagingName } from '../archive/staging.ts'
import { fromSystemError, HansardError, systemCode } from '../errors.ts'

export type ListedFile = { readonly below: string; readonly stat: Stats }

const MAX_DEPTH = 12
const MAX_FILES = 100_000
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** `missed` is told of each folder that could not be looked into. Throws `too-large` past 100,000 files. */
export async function listFolder(
  root: string,
  missed: (below: string, reason: string) => void,
): Promise<readonly ListedFile[]> {
  const files: ListedFile[] = []
  const walk = async (below: string, depth: number): Promise<void> => {
    if (depth > MAX_DEPTH) {
      missed(below, `a folder more than ${MAX_DEPTH} levels down, not looked into`)
      return
    }
    for (const name of await namesIn(join(root, below), below, missed)) {
      const path = below === '' ? name : `${below}/${name}`
      const stat = await fs.lstat(join(root, path)).catch(() => undefined)
      if (stat?.isDirectory() && !isPassedOver(name)) await walk(path, depth + 1)
      if (!stat?.isFile()) continue
      if (files.length >= MAX_FILES) {
        throw new HansardError('too-large', `${root} holds more than ${MAX_FILES} files`, {
          hint: 'name a folder further down',
        })
      }
      files.push({ below: path, stat })
    }
  }
  await walk('', 0)
  return files.sort((a, b) => (a.below < b.below ? -1 : 1))
}

function isPassedOver(name: string): boolean {
  return PASSED_OVER.has(name) || isStagingName(name)
}

async function namesIn(
  folder: string,
  below: string,
  missed: (below: string, reason: string) => void,
): Promise<readonly string[]> {
  try {
    return await fs.readdir(folder)
  } catch (error) {
    if (below === '') throw fromSystemError(error, folder)
    missed(below, `a folder that cannot be listed (${systemCode(error) ?? 'unknown'})`)
    return []
  }
}
