/**
 * The one door to standard output and standard error. Data goes to stdout, everything else to stderr; errors are printed here
 * and nowhere else, without a stack; what is foreign in a message is shown, never sent to the terminal.
 */
import { fromSystemError, isHansardError, messageOf, type ErrorCode } from '../errors.ts'
import { visible, visibleJson } from '../replay/escape.ts'
import { toJson } from '../transcript/json.ts'
import { hasLongText, jsonPieces, textPieces } from '../transcript/long-spelling.ts'
import { coloursFor, type Style } from './colour.ts'
import { clearProgress } from './progress.ts'
import { stderr, stdout } from './streams.ts'

/** 0 done, 1 failed, 2 wrong usage. */
export const FAILED = 1
export const WRONG_USAGE = 2

const FLUSH_CHARACTERS = 64 * 1024
/** Characters that are made bytes at a time. */
const MOST_WRITTEN = 1024 * 1024

let pending: string[] = []
let pendingLength = 0
let begun = false

/** Text for people or programs, already fit for where it goes. Waits when the reader is slower than we are. */
export async function out(text: string): Promise<void> {
  pending.push(text)
  pendingLength += text.length
  if (pendingLength >= FLUSH_CHARACTERS) await flush()
}

/** A value as the one document of a command. */
export async function outJson(value: object): Promise<void> {
  for (const piece of documentPieces(value)) await out(piece)
  await out('\n')
}

/** A document piece by piece, each item of its lists by itself: a long one is never a text as a whole. */
export function* documentPieces(value: object): Generator<string> {
  let before = '{'
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    yield `${before}${printableJson(key)}:`
    if (Array.isArray(member)) yield* listPieces(member)
    else yield printableJson(member)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

function* listPieces(items: readonly unknown[]): Generator<string> {
  let before = '['
  for (const item of items) {
    yield `${before}${printableJson(item ?? null)}`
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

/** A value, or a part of a document, as JSON that a terminal may also be given. */
export function printableJson(value: unknown): string {
  return visibleJson(toJson(value))
}

/** The same in pieces, where it is long. */
export function* printablePieces(value: unknown): Generator<string> {
  if (!hasLongText(value)) yield printableJson(value)
  else for (const piece of jsonPieces(value)) yield visibleJson(piece)
}

export async function flush(): Promise<void> {
  if (pendingLength === 0) return
  const text = pending.join('')
  pending = []
  pendingLength = 0
  begun = true
  if (stdout.isTTY) clearProgress()
  for (const piece of textPieces(text, MOST_WRITTEN)) if (!stdout.write(piece)) await stdout.drained()
}

/** A line on stderr. Where it is a warning or an error, it begins `hansard: `, and that stands out. */
export function note(text: string, style: Style = 'yellow'): void {
  clearProgress()
  const shown = visible(text)
  const { paint, dim } = coloursFor(stderr)
  if (shown.startsWith(PREFIX)) stderr.write(`${paint(PREFIX, 'bold', style)}${shown.slice(PREFIX.length)}\n`)
  else stderr.write(`${dim(shown)}\n`)
}

const PREFIX = 'hansard: '

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
    const document = `${printableJson({ error: { code, message, ...(hint !== undefined && { hint }) } })}\n`
    if (!begun) {
      pending = [document]
      pendingLength = document.length
    } else stderr.write(document)
    return flush()
  }
  await flush()
  note(`${PREFIX}${message}`, 'red')
  if (hint !== undefined) note(`  ${hint}`)
}

function toShown(error: unknown): Shown {
  const known = isSystemError(error) ? fromSystemError(error, error.path ?? 'what is to be written') : error
  if (isHansardError(known)) return { code: known.code, message: known.message, hint: known.hint }
  const hint = 'this is a bug in hansard: please report it with the command you typed'
  return { code: 'internal', message: `something unexpected happened: ${messageOf(error)}`, hint }
}

/** What the operating system refused, wherever it was asked. */
function isSystemError(error: unknown): error is Error & { readonly path?: string } {
  return error instanceof Error && 'syscall' in error && 'errno' in error
}
