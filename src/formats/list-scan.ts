/**
 * A JSON object around a list, or a list alone, cut apart as its bytes come in: the members and the list's elements, each as its own
 * bytes. Linear, and holds one value at a time. It gives up on anything that is not right: what is left then is for a reader that
 * sees the whole.
 */
import { createOpenLine, RECORD_LIMIT } from '../transcript/lines.ts'

export type ListScan = {
  push(chunk: Buffer): void
  /** True once the document's last bracket was there, and nothing but white space behind it. */
  readonly isWhole: boolean
  /** True from the first byte on that cannot be right. */
  readonly isBroken: boolean
  /** True when the list was there. */
  readonly hasList: boolean
  /** True once another object began behind the document's last bracket: what broke it, and nothing else. */
  readonly isFollowed: boolean
}

export type ListParts = {
  /** The list's key, or undefined when the document is nothing but the list. */
  readonly list: string | undefined
  /** The member of the document that the list is in, where it is not in the document itself. */
  readonly within?: string
  /** Members that are passed over, however large: they are read by themselves. */
  readonly without?: ReadonlySet<string>
  readonly member: (key: string, bytes: Buffer) => void
  /** Without bytes when they are over the limit. */
  readonly element: (bytes: Buffer | undefined, place: ElementPlace) => void
}

export type ElementPlace = {
  readonly byteOffset: number
  readonly byteLength: number
  /** The bytes of a long one are nobody else's, and may be written over. */
  readonly isOwn: boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const MARK = [0xef, 0xbb, 0xbf] as const

export function createListScan({ list, within, without, member, element }: ListParts): ListScan {
  const value = createValue()
  /** Bytes before this chunk. */
  let before = 0
  /** Open brackets, and how many of them are around the values that are cut apart. */
  let depth = 0
  let level = 0
  let isInList = false
  let hasList = false
  let isInString = false
  let isEscaped = false
  let isScalar = false
  let isBroken = false
  let isEnded = false
  let isFollowed = false
  /** A comma or a colon stands behind the last bracket: lines have none. */
  let isSeparated = false
  let key: string | undefined
  const listDepth = within === undefined ? 1 : 2

  const end = (chunk: Buffer, to: number): void => {
    isScalar = false
    const { bytes, ...place } = value.end(chunk, to, before)
    if (isInList) element(bytes, place)
    else if (key === undefined) {
      key = bytes === undefined ? undefined : keyOf(bytes)
      isBroken ||= key === undefined
    } else {
      if (without?.has(key) !== true) {
        if (bytes === undefined || (key === list && level === listDepth)) isBroken = true
        else member(key, bytes)
      }
      key = undefined
    }
  }

  const begin = (at: number): void =>
    value.begin(at, before, !isInList && key !== undefined && without?.has(key) === true)

  const open = (byte: number, at: number): void => {
    if (depth === 0) {
      isBroken ||= byte !== (list === undefined ? OPEN_BRACKET : OPEN_BRACE)
      isInList = list === undefined
      hasList = isInList
      level = 1
    } else if (!value.isOpen) {
      if (!isInList && depth === 1 && key !== undefined && key === within && byte === OPEN_BRACE) {
        level = 2
        key = undefined
      } else if (
        isInList ||
        key !== list ||
        byte !== OPEN_BRACKET ||
        key === undefined ||
        depth !== listDepth
      ) {
        // A key is a text.
        isBroken ||= !isInList && key === undefined
        begin(at)
      } else {
        // Of two lists of the same name the last counts, which cannot be known here.
        isBroken ||= hasList
        isInList = true
        hasList = true
        level += 1
        key = undefined
      }
    }
    depth += 1
  }

  const close = (byte: number, chunk: Buffer, at: number): void => {
    if (isScalar) end(chunk, at)
    if (value.isOpen) {
      depth -= 1
      if (depth === level) end(chunk, at + 1)
      return
    }
    isBroken ||= depth === 0 || key !== undefined || byte !== (isInList ? CLOSE_BRACKET : CLOSE_BRACE)
    depth -= 1
    level -= 1
    isInList = false
    isEnded = depth === 0
  }

  return {
    push(chunk) {
      for (let at = 0; at < chunk.length && !isBroken; at += 1) {
        const byte = chunk[at] as number
        if (isInString) {
          if (isEscaped) isEscaped = false
          else if (byte === BACKSLASH) isEscaped = true
          else if (byte === QUOTE) {
            isInString = false
            if (depth === level) end(chunk, at + 1)
          } else if (byte < 0x20) isBroken = true
          continue
        }
        if (byte <= 0x20 || byte === COMMA || byte === COLON) {
          isBroken ||= byte === 0
          isSeparated ||= isEnded && byte > 0x20
          if (isScalar) end(chunk, at)
        } else if (isEnded) {
          isFollowed = byte === OPEN_BRACE && !isSeparated
          isBroken = true
        } else if (byte === QUOTE) {
          isBroken ||= isScalar || depth === 0
          if (!value.isOpen) begin(at)
          isInString = true
        } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
          isBroken ||= isScalar
          open(byte, at)
        } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) close(byte, chunk, at)
        else if (!value.isOpen && !(before + at < MARK.length && byte === MARK[before + at])) {
          isBroken ||= depth === 0
          begin(at)
          isScalar = true
        }
      }
      value.pass(chunk)
      before += chunk.length
    },
    get isWhole() {
      return isEnded && !isBroken
    },
    get isBroken() {
      return isBroken
    },
    get hasList() {
      return hasList
    },
    get isFollowed() {
      return isFollowed
    },
  }
}

type Ended = ElementPlace & { readonly bytes: Buffer | undefined }

/** The bytes of one value, which may lie in any number of chunks: a long one is put together as it comes, in memory that is used again. */
function createValue() {
  const held = createOpenLine(RECORD_LIMIT)
  /** In this chunk, and in the document; -1 when none is open. */
  let start = 0
  let from = -1
  let isPassed = false
  return {
    get isOpen() {
      return from !== -1
    },
    begin(at: number, before: number, passed: boolean): void {
      isPassed = passed
      start = at
      from = before + at
    },
    /** The chunk is over and the value is not. */
    pass(chunk: Buffer): void {
      if (from === -1) return
      if (!isPassed) held.add(chunk.subarray(start))
      start = 0
    },
    end(chunk: Buffer, to: number, before: number): Ended {
      const bytes = isPassed ? undefined : held.end(chunk.subarray(start, to))
      const isOwn = bytes !== undefined && held.isOwn(bytes)
      const ended = { bytes, byteOffset: from, byteLength: before + to - from, isOwn }
      from = -1
      return ended
    },
  }
}

function keyOf(bytes: Buffer): string | undefined {
  try {
    const key: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof key === 'string' ? key : undefined
  } catch {
    return undefined
  }
}
