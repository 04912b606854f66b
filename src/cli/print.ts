/**
 * The one door to standard output and standard error. Data goes to stdout, everything else to stderr; errors are printed here
 * and nowhere else, without a stack; what is foreign in a message is shown, never sent to the terminal.
 */
import { isHansardError, type ErrorCode } from '../errors.ts'
import { visible } from '../replay/escape.ts'

/** 0 done, 1 failed, 2 wrong usage. */
export const FAILED = 1
export const WRONG_USAGE = 2

const FLUSH_CHARACTERS = 64 * 1024

let pending: string[] = []
let pendingLength = 0
let begun = false

/** Text for people or programs, already fit for where it goes. Waits when the reader is slower than we are. */
export async function out(text: string): Promise<void> {
  pending.push(text)
  pendingLength += text.length
  if (pendingLength >= FLUSH_CHARACTERS) await flush()
}

export async function flush(): Promise<void> {
  if (pendingLength === 0) return
  const text = pending.join('')
  pending = []
  pendingLength = 0
  begun = true
  if (process.stdout.write(text)) return
  await new Promise((resolve) => process.stdout.once('drain', resolve))
}

/** A line on stderr. */
export function note(text: string): void {
  process.stderr.write(`${visible(text)}\n`)
}

/** A reader that went away (`| head`) is no failure. */
export function endQuietlyWithoutReader(): void {
  const quit = (error: Error): void => {
    if ('code' in error && error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
    throw error
  }
  process.stdout.on('error', quit)
  process.stderr.on('error', quit)
}

type Shown = {
  readonly code: ErrorCode | 'internal'
  readonly message: string
  readonly hint: string | undefined
}

/**
 * Says what went wrong: with `json` as the one document on stdout, unless part of another stands there already. What was
 * printed before it stays printed.
 */
export async function printError(error: unknown, json: boolean, exitCode: number = FAILED): Promise<void> {
  process.exitCode = exitCode
  const { code, message, hint } = toShown(error)
  if (json) {
    const document = `${JSON.stringify({ error: { code, message, ...(hint !== undefined && { hint }) } })}\n`
    const clean = !begun
    if (clean) {
      pending = [document]
      pendingLength = document.length
    } else process.stderr.write(document)
    return flush()
  }
  await flush()
  note(`hansard: ${message}`)
  if (hint !== undefined) note(`  ${hint}`)
}

function toShown(error: unknown): Shown {
  if (isHansardError(error)) return { code: error.code, message: error.message, hint: error.hint }
  const message = error instanceof Error ? error.message : String(error)
  const hint = 'this is a bug in hansard: please report it with the command you typed'
  return { code: 'internal', message: `something unexpected happened: ${message}`, hint }
}
