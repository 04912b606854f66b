/**
 * Slices as files, one for each type, one line for each item. An append is one write of a whole line; a line that a crash tore
 * costs that line, is reported, and is never joined with the next. Reading goes through the file as a stream.
 */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { fromSystemError, systemCode } from '../../errors.ts'
import { sliceFileName } from '../../formats/weakincentives-entry.ts'
import { nodeFiles, writeAll, writeWhole, type Files } from '../../journal/files.ts'
import type { Damage } from '../../transcript/damage.ts'
import { parseJson, toJson, type Json } from '../../transcript/json.ts'
import { createLineSplitter, type Line } from '../../transcript/lines.ts'
import { viewOf, type SliceFactory, type SliceStore, type SliceType } from './slice.ts'

export type JsonlOptions = {
  /** Where the files are; a fresh temporary folder when absent. */
  readonly baseDir?: string
  readonly files?: Files
  /** Told of each line that could not be read, every time it is met. */
  readonly onDamage?: (damage: Damage) => void
}

export type JsonlSliceFactory = SliceFactory & { readonly directory: string }

export function jsonlSliceFactory(options: JsonlOptions = {}): JsonlSliceFactory {
  const directory = options.baseDir ?? fs.mkdtempSync(join(os.tmpdir(), 'wink_slices_'))
  return { directory, create: (type) => createJsonlStore(type, directory, options) }
}

const NEWLINE = 0x0a
const CHUNK_BYTES = 64 * 1024

function createJsonlStore<T>(type: SliceType<T>, directory: string, options: JsonlOptions): SliceStore<T> {
  const { files = nodeFiles, onDamage } = options
  const name = sliceFileName(type.name)
  const path = join(directory, name)
  let damaged: Damage[] = []

  const report = (line: Line, kind: Damage['kind'], reason: string): void => {
    const { number, byteOffset, byteLength } = line
    const damage = { kind, file: path, line: number, byteOffset, byteLength, reason }
    damaged.push(damage)
    onDamage?.(damage)
  }

  const settled = (value: Json): T | undefined => {
    if (!type.is(value)) return undefined
    try {
      return type.settle?.(value) ?? value
    } catch {
      return undefined
    }
  }

  const toItem = (line: Line): { item: T } | undefined => {
    const value = line.text === undefined ? undefined : parseJson(line.text)
    const item = value === undefined ? undefined : settled(value)
    if (item !== undefined) return { item }
    if (line.text === undefined)
      report(line, 'too-large', `a line of ${line.byteLength} bytes, over the limit`)
    else if (value !== undefined) report(line, 'not-an-entry', `no ${type.name}`)
    else if (line.ended) report(line, 'not-json', 'not JSON')
    else report(line, 'torn', 'the file ends inside this line')
    return undefined
  }

  function* iterate(): Generator<T> {
    damaged = []
    for (const line of readLinesOf(files, path)) {
      const read = toItem(line)
      if (read !== undefined) yield read.item
    }
  }

  const appendText = (text: string): void => guarded(path, () => appendLines(files, directory, path, text))

  return {
    place: path,
    ...viewOf(iterate),
    isEmpty: () => sizeOf(files, path) === 0,
    length() {
      let count = 0
      for (const _ of iterate()) count += 1
      return count
    },
    append: (item) => appendText(`${toJson(item)}\n`),
    extend: (items) => appendText(items.map((item) => `${toJson(item)}\n`).join('')),
    replace: (items) => write(items),
    clear(predicate) {
      if (predicate !== undefined) write([...iterate()].filter((item) => !predicate(item)))
      else if (files.kind(path) !== undefined) guarded(path, () => files.remove(path))
    },
    damage: () => damaged,
  }

  function write(items: readonly T[]): void {
    guarded(path, () => {
      files.makeFolder(directory)
      writeWhole(files, directory, name, Buffer.from(items.map((item) => `${toJson(item)}\n`).join('')))
    })
  }
}

/** Whole lines at the end of the file, or the file as it was. */
function appendLines(files: Files, directory: string, path: string, text: string): void {
  if (text === '') return
  files.makeFolder(directory)
  const endsTorn = lastByte(files, path) !== NEWLINE
  const fd = files.openAppend(path, 'any')
  try {
    const before = files.size(fd)
    try {
      writeAll(files, fd, Buffer.from(endsTorn && before > 0 ? `\n${text}` : text))
    } catch (error) {
      files.truncate(fd, before)
      throw error
    }
  } finally {
    files.close(fd)
  }
}

function* readLinesOf(files: Files, path: string): Generator<Line> {
  if (files.kind(path) === undefined) return
  const fd = guarded(path, () => files.openRead(path))
  try {
    const splitter = createLineSplitter()
    for (let position = 0; ;) {
      // A buffer for each chunk: the splitter keeps parts of it.
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
      const read = files.read(fd, buffer, position)
      if (read === 0) break
      position += read
      yield* splitter.push(buffer.subarray(0, read))
    }
    yield* splitter.end()
  } finally {
    files.close(fd)
  }
}

function lastByte(files: Files, path: string): number | undefined {
  if (sizeOf(files, path) === 0) return undefined
  const fd = files.openRead(path)
  try {
    const buffer = Buffer.alloc(1)
    files.read(fd, buffer, files.size(fd) - 1)
    return buffer[0]
  } finally {
    files.close(fd)
  }
}

function sizeOf(files: Files, path: string): number {
  if (files.kind(path) === undefined) return 0
  const fd = guarded(path, () => files.openRead(path))
  try {
    return files.size(fd)
  } finally {
    files.close(fd)
  }
}

function guarded<R>(path: string, work: () => R): R {
  try {
    return work()
  } catch (error) {
    throw systemCode(error) === undefined ? error : fromSystemError(error, path)
  }
}
