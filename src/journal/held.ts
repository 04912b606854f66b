/**
 * Lines in memory, bounded in bytes: those that wait for a disk that takes them, and copies of those written and not yet
 * known to be on it. When the waiting ones grow past their bound, mere copies go first; then the oldest
 * lose their content and keep their envelope; only then are whole ones dropped. What is lost is counted.
 */
import { parseJson } from '../transcript/json.ts'
import { toRecordJson, withoutContent } from './record-json.ts'
import type { JournalHead, JournalRecord } from './record.ts'

export type HeldLine = {
  readonly t: string
  readonly json: string
  readonly mt: number
  /** It is in a file already, if one that may not survive a power cut: dropping it loses less than dropping another. */
  readonly isCopy?: boolean
}

export type Waiting = {
  readonly size: number
  /** Entries whose content was dropped since this was last taken. */
  takeLost(): number
  push(line: HeldLine): void
  /** Back in front: lines of a file that can no longer be trusted. They are `copies` while that file still holds them. */
  putBack(lines: readonly HeldLine[], copies: boolean): void
  first(): HeldLine | undefined
  shift(): void
}

type WaitingLine = HeldLine & {
  /** Its content is already dropped and counted. */
  readonly emptied?: boolean
}

export function createWaiting(limitBytes: number): Waiting {
  let lines: WaitingLine[] = []
  /** Where the queue begins: moving the whole array for each line would make draining quadratic. */
  let start = 0
  /** Lines before this one have no content left to drop. */
  let full = 0
  let bytes = 0
  let lost = 0

  const isOver = (): boolean => bytes > limitBytes

  const empty = (at: number): void => {
    const line = lines[at]
    if (line === undefined || line.t !== 'entry') return
    const json = emptied(line.json)
    if (json.length >= line.json.length) return
    bytes += json.length - line.json.length
    lost += 1
    lines[at] = { ...line, json, emptied: true }
  }

  const drop = (): boolean => {
    // The session's last word is worth more than any entry.
    const at = lines.findIndex((line, index) => index >= start && line.t !== 'end')
    if (at === -1) return false
    const [dropped] = lines.splice(at, 1)
    bytes -= dropped?.json.length ?? 0
    full = Math.max(start, full - 1)
    if (dropped?.t === 'entry' && dropped.emptied !== true) lost += 1
    return true
  }

  const shift = (): void => {
    bytes -= lines[start]?.json.length ?? 0
    start += 1
    if (start < lines.length) return
    lines = []
    start = 0
    full = 0
  }

  const shrink = (): void => {
    while (isOver() && lines[start]?.isCopy === true) shift()
    for (full = Math.max(full, start); isOver() && full < lines.length; full += 1) empty(full)
    while (isOver() && drop()) continue
  }

  return {
    get size() {
      return lines.length - start
    },
    takeLost() {
      const taken = lost
      lost = 0
      return taken
    },
    push(line) {
      lines.push(line)
      bytes += line.json.length
      shrink()
    },
    putBack(front, copies) {
      const back = copies ? front.map((line) => ({ ...line, isCopy: true })) : front
      lines = [...back, ...lines.slice(start)]
      start = 0
      full = 0
      for (const line of front) bytes += line.json.length
      shrink()
    },
    first: () => lines[start],
    shift,
  }
}

/** Copies of lines that are in the file and perhaps not on the disk, oldest first. */
export type Unsynced = {
  readonly bytes: number
  readonly size: number
  /** The line before the oldest one here: the last that is known to be safe, or no longer held. */
  base(): JournalHead
  add(line: HeldLine, head: JournalHead): void
  /** All lines until now are part of the sync that begins. */
  cover(): void
  /** That sync is done: they are safe. */
  releaseCovered(): void
  release(count: number): void
  /** All lines, taken out. */
  take(): readonly HeldLine[]
  begin(base: JournalHead): void
}

export function createUnsynced(base: JournalHead): Unsynced {
  let lines: HeldLine[] = []
  let heads: JournalHead[] = []
  let bytes = 0
  let covered = 0
  const release = (count: number): void => {
    if (count <= 0) return
    base = heads[count - 1] ?? base
    for (const line of lines.splice(0, count)) bytes -= line.json.length
    heads.splice(0, count)
    covered = Math.max(0, covered - count)
  }
  return {
    get bytes() {
      return bytes
    },
    get size() {
      return lines.length
    },
    base: () => base,
    add(line, head) {
      lines.push(line)
      heads.push(head)
      bytes += line.json.length
    },
    cover() {
      covered = lines.length
    },
    releaseCovered: () => release(covered),
    release,
    take() {
      const taken = lines
      lines = []
      heads = []
      bytes = 0
      covered = 0
      return taken
    },
    begin(head) {
      base = head
    },
  }
}

function emptied(json: string): string {
  // Our own JSON, read back: only what `toRecordJson` made of an entry comes here.
  const record = parseJson(json) as JournalRecord | undefined
  return record === undefined ? json : toRecordJson(withoutContent(record, DROPPED))
}

const DROPPED = 'dropped: the disk took no more and memory is bounded'
