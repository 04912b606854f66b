/**
 * A session's `tape.jsonl`: what was asked is read at once, what was answered when it is asked for. A line that a crash cut off, or that
 * is none, is counted and passed over; what is held is what requests add to each other.
 */
import { join } from 'node:path'
import type { Files } from '../journal/files.ts'
import { parseJson } from '../transcript/json.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import {
  TAPES,
  toTape,
  toTapeInquiry,
  toTapeRequest,
  type TapeInquiryJson,
  type TapeJson,
  type TapeRequestJson,
} from '../wire/tape.ts'

export type TapeFile = {
  /** In the order in which they were written. */
  readonly requests: readonly TapeRequestJson[]
  /** Questions about models and tokens. */
  readonly inquiries: readonly TapeInquiryJson[]
  /** Calls and inquiries that have an answer here. */
  readonly answered: ReadonlySet<string>
  /** Lines that are none. */
  readonly damaged: number
  answer(call: string): TapeJson | undefined
  close(): void
}

const CHUNK = 4 * 1024 * 1024
/** Longer than any line that is written: answers share 48 MB while they are held. */
const LONGEST = 256 * 1024 * 1024
/** What was asked, as text, of one session. */
const MOST_ASKED = 512 * 1024 * 1024

/** Undefined where there is none. */
export function openTape(files: Files, folder: string): TapeFile | undefined {
  const path = join(folder, TAPES)
  if (files.kind(path) !== 'file') return undefined
  const fd = files.openRead(path)
  const requests: TapeRequestJson[] = []
  const inquiries: TapeInquiryJson[] = []
  const places = new Map<string, { readonly at: number; readonly length: number }>()
  let asked = 0
  let damaged = 0
  for (const { bytes, at } of linesOf(files, fd)) {
    const head = bytes.toString('latin1', 0, 200)
    const [, call] = ANSWER.exec(head) ?? []
    if (call !== undefined) {
      places.set(call, { at, length: bytes.length })
      continue
    }
    asked += bytes.length
    const line = asked > MOST_ASKED ? undefined : parseJson(bytes.toString())
    const [request, inquiry] = [toTapeRequest(line), toTapeInquiry(line)]
    if (request !== undefined) requests.push(request)
    else if (inquiry !== undefined) inquiries.push(inquiry)
    else damaged += 1
  }
  let isOpen = true
  return {
    requests,
    inquiries,
    answered: new Set(places.keys()),
    damaged,
    answer(call) {
      const place = places.get(call)
      if (place === undefined || !isOpen) return undefined
      const bytes = Buffer.alloc(place.length)
      for (let read = 0, more = -1; more !== 0 && read < bytes.length; read += more)
        more = files.read(fd, bytes.subarray(read), place.at + read)
      return toTape(parseJson(bytes.toString()))
    },
    close() {
      if (isOpen) files.close(fd)
      isOpen = false
    },
  }
}

/** One answer, without reading the rest: other work goes on in between. `call` may be anything. */
export async function findAnswer(files: Files, folder: string, call: string): Promise<TapeJson | undefined> {
  const path = join(folder, TAPES)
  if (!/^[\w-]{1,128}$/.test(call) || files.kind(path) !== 'file') return undefined
  // In a text its quotes would not stand so.
  const wanted = Buffer.from(`{"v":1,"call":"${call}","status":`)
  const fd = files.openRead(path)
  try {
    const chunk = Buffer.allocUnsafe(CHUNK)
    for (let at = 0; ; await nextTurn()) {
      const length = files.read(fd, chunk, at)
      const found = chunk.subarray(0, length).indexOf(wanted)
      if (found !== -1) return toTape(parseJson(lineAt(files, fd, at + found)))
      if (length <= wanted.length) return undefined
      at += length - wanted.length
    }
  } finally {
    files.close(fd)
  }
}

/** Of an answer that is watched being typed; longer ones are shown at once. */
const LONGEST_TYPED = 16 * 1024 * 1024

function lineAt(files: Files, fd: number, from: number): string {
  const parts: Buffer[] = []
  for (let at = from; at - from < LONGEST_TYPED;) {
    const chunk = Buffer.allocUnsafe(256 * 1024)
    const length = files.read(fd, chunk, at)
    const end = chunk.subarray(0, length).indexOf(0x0a)
    parts.push(chunk.subarray(0, end === -1 ? length : end))
    if (end !== -1) return Buffer.concat(parts).toString()
    if (length === 0) break
    at += length
  }
  return ''
}

/** As we write them: the call first, then which kind of line it is. */
const ANSWER = /^\{"v":1,"call":"([\w-]{1,128})","status":/

/** Whole lines only. */
function* linesOf(files: Files, fd: number): Generator<{ readonly bytes: Buffer; readonly at: number }> {
  let held: Buffer = Buffer.alloc(0)
  let start = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK)
    const length = files.read(fd, chunk, start + held.length)
    if (length === 0) return
    let bytes =
      held.length === 0 ? chunk.subarray(0, length) : Buffer.concat([held, chunk.subarray(0, length)])
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a)) {
      yield { bytes: bytes.subarray(0, end), at: start }
      start += end + 1
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > LONGEST) return
    held = bytes
  }
}
