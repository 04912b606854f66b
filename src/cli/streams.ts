/**
 * Standard output and standard error. To a pipe or a file, bytes are written as they are: Node.js's own stream of a pipe brings the
 * network with it, and takes as long to load as a short command to answer. Terminals, and Windows, have Node.js's own.
 */
import fs from 'node:fs'
import { systemCode } from '../errors.ts'

export type Output = {
  readonly isTTY: boolean
  /** Undefined for what is no terminal. */
  readonly columns: number | undefined
  /** False when it goes out later, which `drained` waits for. A reader that went away (`| head`) ends the process, and is no failure. */
  write(text: string): boolean
  drained(): Promise<void>
}

export const stdout = createOutput(1, () => process.stdout)
export const stderr = createOutput(2, () => process.stderr)

/** `open` is asked for when bytes cannot be written as they are. */
export function createOutput(fd: number, open: () => NodeJS.WriteStream): Output {
  let isDirect: boolean | undefined
  let opened: NodeJS.WriteStream | undefined
  const stream = (): NodeJS.WriteStream => (opened ??= open().on('error', endOrThrow))
  const canDirect = (): boolean => (isDirect ??= isPipeOrFile(fd))
  return {
    get isTTY() {
      // Without a terminal the property is not there.
      const { isTTY = false }: { readonly isTTY?: boolean } = canDirect() ? {} : stream()
      return isTTY
    },
    get columns() {
      return canDirect() ? undefined : stream().columns
    },
    write(text) {
      if (!canDirect()) return stream().write(text)
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length;) {
        try {
          at += fs.writeSync(fd, bytes, at)
        } catch (error) {
          if (systemCode(error) !== 'EAGAIN') return endOrThrow(error)
          // Somebody made the pipe one that does not wait: from here on, the stream that can.
          isDirect = false
          return stream().write(bytes.subarray(at))
        }
      }
      return true
    },
    drained: () => new Promise((resolve) => void stream().once('drain', () => resolve())),
  }
}

function isPipeOrFile(fd: number): boolean {
  if (process.platform === 'win32') return false
  try {
    const stat = fs.fstatSync(fd)
    return stat.isFIFO() || stat.isSocket() || stat.isFile()
  } catch {
    return false
  }
}

function endOrThrow(error: unknown): never {
  if (systemCode(error) === 'EPIPE') process.exit(process.exitCode ?? 0)
  throw error
}
