/** One transcript file, read as it grows: each whole line once, a line that is still being written when it is whole. */
import fs from 'node:fs'
import { readOnly } from '../../sources/at-once.ts'
import { isObject, parseJson, type JsonObject } from '../../transcript/json.ts'
import { createLineSplitter } from '../../transcript/lines.ts'

export type TranscriptFile = {
  readonly path: string
  /** Gives what has come since the last time. A file that is not there yet has nothing. */
  read(take: (line: JsonObject) => void): void
  /** The lines so far that were no JSON. */
  damaged(): number
}

const AT_ONCE = 1024 * 1024

export function openTranscript(path: string): TranscriptFile {
  const splitter = createLineSplitter()
  let offset = 0
  let damaged = 0
  const takeAll = (chunk: Buffer, take: (line: JsonObject) => void): void => {
    for (const { text } of splitter.push(chunk)) {
      const line = text === undefined ? undefined : parseJson(text)
      if (isObject(line)) take(line)
      else damaged += 1
    }
  }
  return {
    path,
    read(take) {
      const fd = open(path)
      if (fd === undefined) return
      try {
        for (;;) {
          const chunk = Buffer.alloc(AT_ONCE)
          const length = fs.readSync(fd, chunk, 0, AT_ONCE, offset)
          if (length === 0) return
          offset += length
          takeAll(chunk.subarray(0, length), take)
        }
      } finally {
        fs.closeSync(fd)
      }
    },
    damaged: () => damaged,
  }
}

/** What is opened is the file that was looked at, and no link that has taken its place. */
function open(path: string): number | undefined {
  try {
    const fd = fs.openSync(path, readOnly(false))
    if (fs.fstatSync(fd).isFile()) return fd
    fs.closeSync(fd)
  } catch {
    // Gone, or not there yet.
  }
  return undefined
}
