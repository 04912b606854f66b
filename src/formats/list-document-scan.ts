/** The members and elements of a document in which everything is right, as its bytes come. */
import { isUtf8 } from 'node:buffer'
import type { Damage } from '../transcript/damage.ts'
import { parseJson, type Json } from '../transcript/json.ts'
import { parseLong } from '../transcript/long-json.ts'
import type { ListDocument } from './list-document.ts'
import type { ListElement } from './list-salvage.ts'
import { createListScan } from './list-scan.ts'
import { MEMBERS_LIMIT } from './list-stream.ts'

export type DocumentScan = {
  /** False from the first byte on that is not right. */
  push(chunk: Buffer): boolean
  /** Another object stands behind the end, and nothing else was not right. */
  readonly isLines: boolean
  /** Undefined for a document in which anything is not right. */
  end(): Pick<ListDocument, 'members' | 'damage' | 'sizeBytes' | 'count'> | undefined
}

export function createDocumentScan(
  file: string,
  list: string | undefined,
  without: ReadonlySet<string>,
  give: (element: ListElement) => void,
  within?: string,
): DocumentScan {
  const members = Object.create(null) as Record<string, Json>
  const damage: Damage[] = []
  let isRight = true
  let sizeBytes = 0
  let memberBytes = 0
  let count = 0
  const parse = (bytes: Buffer, isOwn = false): Json | undefined => {
    const value = isUtf8(bytes) ? parseElement(bytes, isOwn) : undefined
    isRight &&= value !== undefined
    return value
  }
  const scan = createListScan({
    list,
    without,
    ...(within !== undefined && { within }),
    member(key, bytes) {
      memberBytes += bytes.length
      isRight &&= memberBytes <= MEMBERS_LIMIT
      const value = isRight ? parse(bytes) : undefined
      if (value !== undefined) members[key] = value
    },
    element(bytes, { byteOffset, byteLength, isOwn }) {
      count += 1
      give({ value: bytes && parse(bytes, isOwn), byteOffset, byteLength })
      if (bytes !== undefined) return
      const reason = `an element of ${byteLength} bytes, over the limit`
      damage.push({ kind: 'too-large', file, byteOffset, byteLength, reason })
    },
  })
  return {
    push(chunk) {
      scan.push(chunk)
      sizeBytes += chunk.length
      return isRight && !scan.isBroken
    },
    get isLines() {
      return isRight && scan.isFollowed
    },
    end: () =>
      isRight && scan.isWhole
        ? { members, damage, sizeBytes, count: scan.hasList ? count : undefined }
        : undefined,
  }
}

/** `isOwn`: the bytes of a long one, which may be written over. */
export function parseElement(bytes: Buffer, isOwn: boolean): Json | undefined {
  const long = isOwn ? parseLong(bytes) : undefined
  return long === undefined ? parseJson(bytes.toString('utf8')) : long.value
}
