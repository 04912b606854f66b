/** Rows and copies written one after the other, into what was there where it is the same. */
import fs from 'node:fs/promises'
import type { Entry } from '../transcript/entry.ts'
import { createCopyWriter, type CopyWriter } from './outline-copies.ts'
import { copiesPath, newGeneration, rowsPath, type OutlineFolder, type OutlineNote } from './outline-files.ts'
import { isSameRow, ROW_BYTES, writeCopy, writeRow, type OutlineRow } from './outline-row.ts'

export type RowWriter = {
  generation(): string
  /** True for a row that was there before, with its copy. */
  add(row: OutlineRow): boolean | Promise<boolean>
  /** Of the row that was added last. */
  copy(entry: Entry): Promise<void>
  /** All that was added can be read. */
  flush(): Promise<void>
  /** No more rows than these. Gives how long the copies are. */
  end(length: number): Promise<number>
  close(): Promise<void>
}

const BUFFERED = 4096
const COMPARED = 4096

export async function openRowWriter(at: OutlineFolder, before: OutlineNote | undefined): Promise<RowWriter> {
  const base = before && (await openBase(at, before))
  let generation = base === undefined ? newGeneration() : (before as OutlineNote).generation
  let files = base?.files ?? (await create(at, generation))
  let isNew = base === undefined
  let copies: CopyWriter = createCopyWriter(
    files.copies,
    before === undefined || base === undefined ? 0 : before.copyBytes,
  )
  const buffer = Buffer.alloc(BUFFERED * ROW_BYTES)
  const row = Buffer.alloc(ROW_BYTES)
  let start = 0
  let count = 0
  const length = (): number => start + count

  const flush = async (): Promise<void> => {
    await copies.flush()
    if (count > 0) await files.rows.write(buffer, 0, count * ROW_BYTES, start * ROW_BYTES)
    start += count
    count = 0
  }
  /** From this row on it is another than before. What others read stays as it is. */
  const part = async (): Promise<void> => {
    if (isNew || base === undefined || before === undefined) return
    const old = generation
    generation = newGeneration()
    const own = await create(at, generation)
    await copyBytes(rowsPath(at, old), own.rows, length() * ROW_BYTES)
    await copyBytes(copiesPath(at, old), own.copies, before.copyBytes)
    await closeAll(files)
    files = own
    copies = createCopyWriter(own.copies, before.copyBytes)
    isNew = true
  }
  const put = (): false => {
    row.copy(buffer, count * ROW_BYTES)
    count += 1
    return false
  }
  const compareNext = async (): Promise<boolean> => {
    if (base !== undefined && isSameRow(row, await base.rowAt(length()))) {
      start += 1
      return true
    }
    await part()
    return put()
  }
  let copyEnd = before !== undefined && base !== undefined ? before.copyBytes : 0
  return {
    generation: () => generation,
    add(next) {
      writeRow(row, 0, next)
      const isCompared = !isNew && before !== undefined && length() < before.length
      if (!isCompared && count < BUFFERED) return put()
      return isCompared ? compareNext() : flush().then(put)
    },
    async copy(entry) {
      const at = (count - 1) * ROW_BYTES
      await copies.add(entry, (place) => {
        writeCopy(buffer, at, place)
        copyEnd = place.offset + place.length
      })
    },
    flush,
    async end(most) {
      await flush()
      if (!isNew && before !== undefined && most < before.length) await part()
      return copyEnd
    },
    close: () => closeAll(files),
  }
}

type Files = { readonly rows: fs.FileHandle; readonly copies: fs.FileHandle }
type Base = { readonly files: Files; rowAt(number: number): Promise<Buffer> }

async function create(at: OutlineFolder, generation: string): Promise<Files> {
  return {
    rows: await fs.open(rowsPath(at, generation), 'w+', 0o600),
    copies: await fs.open(copiesPath(at, generation), 'w+', 0o600),
  }
}

/** Undefined when it is not all there. */
async function openBase(
  at: OutlineFolder,
  { generation, length, copyBytes }: OutlineNote,
): Promise<Base | undefined> {
  const rows = await fs.open(rowsPath(at, generation), 'r+').catch(() => undefined)
  const copies = await fs.open(copiesPath(at, generation), 'r+').catch(() => undefined)
  if (rows === undefined || copies === undefined) {
    await rows?.close()
    await copies?.close()
    return undefined
  }
  const isWhole = (await rows.stat()).size >= length * ROW_BYTES && (await copies.stat()).size >= copyBytes
  if (!isWhole) {
    await closeAll({ rows, copies })
    return undefined
  }
  const chunk = Buffer.alloc(COMPARED * ROW_BYTES)
  let from = -1
  return {
    files: { rows, copies },
    async rowAt(number) {
      const first = number - (number % COMPARED)
      if (first !== from) {
        await rows.read(chunk, 0, Math.min(COMPARED, length - first) * ROW_BYTES, first * ROW_BYTES)
        from = first
      }
      return chunk.subarray((number - first) * ROW_BYTES, (number - first + 1) * ROW_BYTES)
    },
  }
}

async function closeAll({ rows, copies }: Files): Promise<void> {
  await rows.close()
  await copies.close()
}

async function copyBytes(path: string, into: fs.FileHandle, bytes: number): Promise<void> {
  const from = await fs.open(path, 'r')
  const chunk = Buffer.alloc(1024 * 1024)
  try {
    for (let at = 0; at < bytes;) {
      const { bytesRead } = await from.read(chunk, 0, Math.min(chunk.length, bytes - at), at)
      if (bytesRead === 0) return
      await into.write(chunk, 0, bytesRead, at)
      at += bytesRead
    }
  } finally {
    await from.close()
  }
}
