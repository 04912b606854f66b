/** What the redactor takes out of files that hold no secrets: code, documentation, logs. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Redactor } from '../../src/redact/redactor.ts'

/** False positives in 100 KB. */
export const MOST_TAKEN = 0.2

export type Taken = { readonly file: string; readonly rule: string; readonly line: string }
export type CleanFiles = { readonly files: number; readonly bytes: number; readonly taken: readonly Taken[] }

/** Larger files are data. */
const LARGEST = 4 * 1024 * 1024

/** Reads text files in the order of their paths, until there are enough bytes. */
export function measureCleanFiles(
  folders: readonly string[],
  redactor: Redactor,
  enough = Number.POSITIVE_INFINITY,
): CleanFiles {
  let files = 0
  let bytes = 0
  const taken: Taken[] = []
  for (const folder of folders)
    for (const file of filesIn(folder)) {
      if (bytes >= enough) break
      const text = readText(file)
      if (text === undefined) continue
      files += 1
      bytes += Buffer.byteLength(text)
      const redacted = redactor.text(text)
      if (redacted === text) continue
      for (const line of redacted.split('\n'))
        for (const [, rule = ''] of line.matchAll(/\[REDACTED:([a-z0-9-]+):[0-9a-f]{8}\]/g))
          taken.push({ file, rule, line })
    }
  return { files, bytes, taken }
}

/** Links are not followed. A folder that cannot be read is empty. */
function* filesIn(folder: string): Generator<string> {
  let entries: fs.Dirent[]
  try {
    entries = fs.readdirSync(folder, { withFileTypes: true })
  } catch {
    return
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(path)
    else if (entry.isFile()) yield path
  }
}

/** Undefined for what is no text, too large, or cannot be read. */
function readText(file: string): string | undefined {
  try {
    const { size } = fs.statSync(file)
    if (size === 0 || size > LARGEST) return undefined
    const bytes = fs.readFileSync(file)
    return bytes.subarray(0, 8192).includes(0) ? undefined : bytes.toString('utf8')
  } catch {
    return undefined
  }
}
