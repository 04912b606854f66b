/** How far long work has come, on one line of a terminal; nothing in a pipe. */

export type Progress = { show(text: string): void; end(): void }

/** A line more often than this is a flicker. */
const EVERY_MS = 100

export function createProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  let shown = 0
  let isThere = false
  return {
    show(text) {
      const now = Date.now()
      if (!stream.isTTY || now - shown < EVERY_MS) return
      shown = now
      isThere = true
      stream.write(`\r\x1b[2K${text.slice(0, Math.max(20, (stream.columns ?? 80) - 1))}`)
    },
    end() {
      if (isThere) stream.write('\r\x1b[2K')
      isThere = false
    },
  }
}
