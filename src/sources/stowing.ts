/**
 * Where the facts of sessions are that many others came after: as JSON, a tenth of the memory that counting takes, and beyond some MB
 * in a file without a name.
 */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { openNameless, readNameless, writeNameless } from '../journal/nameless.ts'
import type { Told } from './stowed-facts.ts'

/** All of it as JSON, or where that lies on disk. */
export type Stowed = string | number

export type Stowing = {
  /** `before`: where it was, which nobody asks for any more. */
  put(told: Told, before?: Stowed): Stowed
  /** As often as it is asked for. */
  take(stowed: Stowed): Told
  close(): void
}

/** Characters that are held before any is written to disk. */
const MOST_HELD = 8 * 1024 * 1024
/** What says how long it is, and how long it may become where it lies, before each. */
const HEADER_BYTES = 8

/** Where no file can be made, or written, all is held. */
export function createStowing(mostHeld: number = MOST_HELD): Stowing {
  let held = 0
  let file: number | undefined
  let isFull = false
  let end = 0
  const write = (json: string, before: number | undefined): number | undefined => {
    if (isFull) return undefined
    try {
      file ??= openNameless(tmpdir())
      if (file === undefined) throw new Error('no file')
      const length = Buffer.byteLength(json)
      const own = before === undefined ? 0 : readBytes(file, before, HEADER_BYTES).readUInt32LE(4)
      const isInPlace = before !== undefined && length <= own
      // Sessions may take turns any number of times: one that grows lies anew only where it has doubled.
      const room = isInPlace ? own : before === undefined ? length : 2 * length
      const bytes = Buffer.allocUnsafe(HEADER_BYTES + length)
      bytes.writeUInt32LE(length)
      bytes.writeUInt32LE(room, 4)
      bytes.write(json, HEADER_BYTES)
      const from = isInPlace ? before : end
      writeNameless(file, bytes, from)
      if (!isInPlace) end += HEADER_BYTES + room
      return from
    } catch {
      isFull = true
      return undefined
    }
  }
  return {
    put(told, before) {
      const json = JSON.stringify(told)
      const place = typeof before === 'number' ? before : undefined
      const at = held < mostHeld && place === undefined ? undefined : write(json, place)
      if (at !== undefined) return at
      held += json.length
      return json
    },
    take(stowed) {
      const json = typeof stowed === 'string' ? stowed : readAt(file, stowed)
      return JSON.parse(json) as Told
    },
    close() {
      if (file !== undefined) fs.closeSync(file)
      file = undefined
      isFull = true
    },
  }
}

function readAt(file: number | undefined, from: number): string {
  if (file === undefined) throw new Error('what was put away is gone')
  const length = readBytes(file, from, HEADER_BYTES).readUInt32LE()
  return readBytes(file, from + HEADER_BYTES, length).toString()
}

function readBytes(file: number, from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  readNameless(file, bytes, from)
  return bytes
}
