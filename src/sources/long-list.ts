/**
 * A list of texts that is too long to be held: in a file without a name, some texts to a page, and of these pages a few in memory. Any
 * thread of the process may read it. Where no file can be made, or written, pages are held.
 */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { openNameless, readNameless, writeNameless } from '../journal/nameless.ts'

/** From here on, lists of files are long: of fewer, what is held of each does not matter. */
export const LONG = 10_000

/** For another thread: good until the list is closed. */
export type LongListIn = {
  readonly length: number
  /** Where pages begin and end in the file. */
  readonly ends: readonly number[]
  readonly file?: number
  /** Those that are in no file, by number. */
  readonly held: ReadonlyMap<number, Uint8Array>
}

export type LongList = { readonly length: number; at(index: number): string }

export type WrittenList = LongList & { readonly handle: LongListIn }

export type LongListWriter = {
  add(text: string): void
  /** When all are added. */
  end(): WrittenList
  /** Whether it came to its end or not. */
  close(): void
}

/** Texts: all of a page are parsed for one that is asked for in no order, as the agents that a log names are. */
const PAGE = 32
/** Pages that are held: places that are read in turn, as of agents that work side by side, and what lies beside each. */
const MOST_PAGES = 32

export function createLongList(): LongListWriter {
  const ends: number[] = [0]
  const held = new Map<number, Uint8Array>()
  let file: number | undefined
  let isFull = false
  let length = 0
  let page: string[] = []
  const write = (bytes: Buffer, at: number): boolean => {
    if (isFull) return false
    try {
      file ??= openNameless(tmpdir())
      if (file !== undefined) writeNameless(file, bytes, at)
      isFull = file === undefined
    } catch {
      isFull = true
    }
    return !isFull
  }
  const putAway = (): void => {
    // As JSON, in which halves of characters have a spelling.
    const bytes = Buffer.from(JSON.stringify(page))
    const from = ends.at(-1) as number
    const isWritten = write(bytes, from)
    if (!isWritten) held.set(ends.length - 1, bytes)
    ends.push(isWritten ? from + bytes.length : from)
    length += page.length
    page = []
  }
  return {
    add(text) {
      page.push(text)
      if (page.length === PAGE) putAway()
    },
    end() {
      if (page.length > 0) putAway()
      const handle: LongListIn = { length, ends, held, ...(file !== undefined && { file }) }
      return { ...openLongList(handle), handle }
    },
    close() {
      if (file !== undefined) fs.closeSync(file)
      file = undefined
      isFull = true
    },
  }
}

export function openLongList({ length, ends, file, held }: LongListIn): LongList {
  const pages = new Map<number, readonly string[]>()
  let [last, ofLast]: [readonly string[], number] = [[], -1]
  const read = (number: number): readonly string[] => {
    const own = held.get(number)
    const [from, to] = [ends[number] as number, ends[number + 1] as number]
    const bytes = own === undefined ? Buffer.allocUnsafe(to - from) : Buffer.from(own)
    if (own === undefined) readNameless(file as number, bytes, from)
    return JSON.parse(bytes.toString()) as readonly string[]
  }
  const pageAt = (number: number): readonly string[] => {
    if (number === ofLast) return last
    const page = pages.get(number) ?? read(number)
    pages.delete(number)
    pages.set(number, page)
    if (pages.size > MOST_PAGES) pages.delete(pages.keys().next().value as number)
    ;[last, ofLast] = [page, number]
    return page
  }
  return {
    length,
    at(index) {
      const text = pageAt(Math.floor(index / PAGE))[index % PAGE]
      if (text === undefined) throw new RangeError(`there is no ${index} in a list of ${length}`)
      return text
    },
  }
}
