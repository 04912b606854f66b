/**
 * Texts of others that are held while a file is read: a hostile one may have any number of them, each as long as a line, so that how many
 * are held bounds no memory. Pure.
 */
import { hashText } from './text-hash.ts'

const LONGEST_NAME = 200
/** Longer than any id that a program gives out. */
const LONGEST_ID = 256

/** What goes by this name, cut short where it is long. */
export function heldName(name: string): string {
  return beginningOf(name, LONGEST_NAME)
}

/** As many short names take as much memory. */
export function weightOfName(name: string): number {
  return 1 + (name.length >> 5)
}

/** What tells it from others: itself, or where it is long its beginning, with its length and a hash. */
export function heldId(id: string): string {
  return id.length <= LONGEST_ID
    ? id
    : `${beginningOf(id, LONGEST_NAME)}~${id.length}~${hashText(id).toString(36)}`
}

/** At most so many characters of it, none of them cut in half: halves of different ones are the same to whoever writes them as bytes. */
export function beginningOf(text: string, most: number): string {
  if (text.length <= most) return text
  const isHalf = (text.charCodeAt(most - 1) & 0xfc00) === 0xd800
  return ownCopy(text.slice(0, isHalf ? most - 1 : most))
}

/** A part of a text keeps the whole of it in memory. */
export function ownCopy(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}
