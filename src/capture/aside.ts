/**
 * What lies beside a session's journal and may be missing: a line for each provider answer, exactly as it came. Appended and never
 * synced by itself; a line that a crash cut off is none. Nothing with a secret in it gets here.
 */
import { join } from 'node:path'
import { nodeFiles, type Files } from '../journal/files.ts'
import type { Redactor } from '../redact/redactor.ts'

export const TAPES = 'tape.jsonl'

export type Aside = {
  /** False when the redactor finds something in the words that the line says, or when it cannot be written. */
  put(words: readonly string[], line: string): boolean
  close(): void
}

export function openAside(
  folder: string,
  redactor: Pick<Redactor, 'text'> | undefined,
  files: Files = nodeFiles,
): Aside {
  let fd: number | undefined
  let isBroken = false
  return {
    put(words, line) {
      if (isBroken) return false
      try {
        if (redactor !== undefined && words.some((text) => redactor.text(text) !== text)) return false
        fd ??= files.openAppend(join(folder, TAPES), 'any')
        const bytes = Buffer.from(`${line}\n`)
        if (files.write(fd, bytes, 0, bytes.length) === bytes.length) return true
      } catch {
        // What is recorded goes on without it.
      }
      // Half a line may be there: what follows would be a part of it.
      isBroken = true
      return false
    },
    close() {
      const open = fd
      fd = undefined
      isBroken = true
      try {
        if (open !== undefined) files.close(open)
      } catch {
        // It is over either way.
      }
    },
  }
}
