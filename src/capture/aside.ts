/**
 * What lies beside a session's journal and may be missing: lines of what was asked, and of each provider answer exactly as it came,
 * appended and never synced by itself, where a line that a crash cut off is none; and what has come of answers that are still coming,
 * for whoever reads of a recorder that died meanwhile. Nothing with a secret in it gets here.
 */
import { join } from 'node:path'
import { nodeFiles, replaceWhole, type Files } from '../journal/files.ts'
import { UNFINISHED, unfinishedLine } from '../journal/unanswered.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { TAPES } from '../wire/tape.ts'

export type Aside = {
  /**
   * False when the redactor finds something in the words that the line says, or when it cannot be written. `cut`: the last of them, where they
   * broke off.
   */
  put(words: readonly string[], line: string, cut?: string): boolean
  /** A line of which the redactor takes out what it finds. False when it cannot be written. */
  putRedacted(value: Json): boolean
  /** What has come of answers that still come, in place of what was said of them before. Nothing: there are none any more. */
  unfinished(answers: readonly UnfinishedAnswer[]): void
  close(): void
}

export type UnfinishedAnswer = { readonly call: string; readonly entry: Entry }

export function openAside(
  folder: string,
  redactor: Pick<Redactor, 'text' | 'cutText' | 'json' | 'entry'> | undefined,
  files: Files = nodeFiles,
): Aside {
  let fd: number | undefined
  let isBroken = false
  let isUnfinished = false
  const write = (toLine: () => string | undefined): boolean => {
    if (isBroken) return false
    let line: string | undefined
    try {
      line = toLine()
    } catch {
      // What the redactor cannot read is not written.
    }
    if (line === undefined) return false
    try {
      fd ??= files.openAppend(join(folder, TAPES), 'any')
      const bytes = Buffer.from(`${line}\n`)
      if (files.write(fd, bytes, 0, bytes.length) === bytes.length) return true
    } catch {
      // What is recorded goes on without it.
    }
    // Half a line may be there: what follows would be a part of it.
    isBroken = true
    return false
  }
  const unfinished = (answers: readonly UnfinishedAnswer[]): void => {
    if (answers.length === 0 && !isUnfinished) return
    try {
      if (answers.length > 0) {
        const lines = answers.map(({ call, entry }) =>
          unfinishedLine(call, redactor === undefined ? entry : redactor.entry(entry, true)),
        )
        replaceWhole(files, folder, UNFINISHED, Buffer.from(lines.join('')))
        isUnfinished = true
      } else {
        files.remove(join(folder, UNFINISHED))
        isUnfinished = false
      }
    } catch {
      // What is recorded goes on without it.
    }
  }
  return {
    put: (words, line, cut = '') =>
      write(() => {
        const isSafe =
          redactor === undefined ||
          (words.every((text) => redactor.text(text) === text) && redactor.cutText(cut) === cut)
        return isSafe ? line : undefined
      }),
    putRedacted: (value) => write(() => toJson(redactor === undefined ? value : redactor.json(value))),
    unfinished,
    close() {
      unfinished([])
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
