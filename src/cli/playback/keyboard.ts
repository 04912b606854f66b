/** Keys of a terminal, one by one, as they are pressed; the terminal is as it was when they are no longer wanted. */
import type { ReadStream } from 'node:tty'

export type Keyboard = {
  /** Undefined when the time is up first, and for ever when nobody types any more. */
  next(ms: number): Promise<string | undefined>
  close(): void
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ['\x03', 'ctrl-c'],
  ['\x04', 'q'],
  ['\x1b[C', 'right'],
  ['\x1b[D', 'left'],
  ['\x1b[A', 'k'],
  ['\x1b[B', 'j'],
  ['\x1b', 'q'],
  ['\r', ' '],
])
/** Longer than what can be waited for at once. */
const LONGEST_MS = 2 ** 31 - 1

export function openKeyboard(input: ReadStream): Keyboard {
  const typed: string[] = []
  let wake = (): void => {}
  let isOver = false
  const onData = (chunk: string): void => {
    typed.push(...keysIn(chunk))
    wake()
  }
  const onEnd = (): void => {
    isOver = true
    wake()
  }
  input.setRawMode(true)
  input.setEncoding('utf8')
  input.on('data', onData).on('end', onEnd)
  input.resume()
  return {
    async next(ms) {
      if (typed.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          const timer = ms === Infinity ? undefined : setTimeout(resolve, Math.min(ms, LONGEST_MS))
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      return typed.shift()
    },
    close() {
      input.off('data', onData).off('end', onEnd)
      input.setRawMode(false)
      input.pause()
    },
  }
}

const KEY = new RegExp(String.raw`${'\x1b'}\[[0-9;]*[A-Za-z~]|[\s\S]`, 'gu')

/** Several may come at once; an arrow is three characters. */
export function keysIn(chunk: string): readonly string[] {
  const keys: string[] = []
  for (const [key] of chunk.matchAll(KEY)) keys.push(NAMES.get(key) ?? key)
  return keys
}
