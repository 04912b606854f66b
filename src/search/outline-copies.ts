/**
 * Copies of entries that cannot be read from their record alone: rows of databases, documents, records that mean something only among
 * others. Many in one compressed frame; without secrets, for they are derived from what may hold some.
 */
import fs from 'node:fs/promises'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Entry } from '../transcript/entry.ts'
import { parseJson, toJson } from '../transcript/json.ts'
import type { CopyPlace } from './outline-row.ts'

const FRAME_ENTRIES = 64
const FRAME_BYTES = 256 * 1024
/** What decompresses to more is no frame of ours. */
const LARGEST = 1024 * 1024 * 1024

export type CopyWriter = {
  /** `onPlaced` is told where it is, when its frame is written. */
  add(entry: Entry, onPlaced: (place: CopyPlace) => void): Promise<void>
  flush(): Promise<void>
}

/** Appends to the file from `offset` on. */
export function createCopyWriter(file: fs.FileHandle, start: number): CopyWriter {
  let offset = start
  let waiting: { readonly json: string; readonly onPlaced: (place: CopyPlace) => void }[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return
    const frame = deflateRawSync(Buffer.from(`[${waiting.map(({ json }) => json).join(',\n')}]`), {
      level: 1,
    })
    await file.write(frame, 0, frame.length, offset)
    waiting.forEach(({ onPlaced }, index) => onPlaced({ offset, length: frame.length, index }))
    offset += frame.length
    waiting = []
    bytes = 0
  }
  return {
    async add(entry, onPlaced) {
      const json = toJson(entry)
      waiting.push({ json, onPlaced })
      bytes += json.length
      if (waiting.length >= FRAME_ENTRIES || bytes >= FRAME_BYTES) await flush()
    },
    flush,
  }
}

export type CopyReader = { read(place: CopyPlace): Promise<Entry | undefined>; close(): Promise<void> }

/** Neighbours lie in one frame: the last one is held. */
export function openCopies(path: string): CopyReader {
  let file: Promise<fs.FileHandle> | undefined
  let held: { readonly offset: number; readonly entries: readonly unknown[] } | undefined
  return {
    async read({ offset, length, index }) {
      if (held?.offset !== offset) {
        const handle = await (file ??= fs.open(path, 'r'))
        const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, offset)
        const text = inflateRawSync(buffer.subarray(0, bytesRead), { maxOutputLength: LARGEST }).toString()
        const entries = parseJson(text)
        held = { offset, entries: Array.isArray(entries) ? entries : [] }
      }
      // What was written there was an entry.
      return held.entries[index] as Entry | undefined
    },
    close: async () => (await file)?.close(),
  }
}
