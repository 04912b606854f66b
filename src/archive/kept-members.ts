/**
 * Cold files: gzip members of about 1 MB of whole lines each, one after the other, which `zcat` reads as one file. Each member
 * says in its header how long it is, packed and not, so that the table of offsets is read without unpacking anything and cannot
 * disagree with the bytes. A place in the file costs the members it lies in, whatever the size of the file.
 */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { HansardError } from '../errors.ts'
import type { Files } from '../journal/files.ts'

/** Uncompressed bytes of a member: a page of a transcript is one or two of them, and packs as well as the whole file does. */
export const MEMBER_BYTES = 1024 * 1024

const NEWLINE = 0x0a
/** Magic, deflate, "has an extra field", no time, unknown system; then the extra field `HN` of 8 bytes. */
const START = Buffer.from('1f8b08040000000000ff0c00484e0800', 'hex')
const HEADER_BYTES = START.length + 8
const FOOTER_BYTES = 8

export type Member = {
  /** Where its content begins and how long it is, uncompressed. */
  readonly offset: number
  readonly length: number
  /** Where it lies in the packed file. */
  readonly packedAt: number
  readonly packedLength: number
}

export function toMember(content: Buffer): Buffer {
  const packed = deflateRawSync(content)
  const sizes = Buffer.alloc(8)
  sizes.writeUInt32LE(HEADER_BYTES + packed.length + FOOTER_BYTES, 0)
  sizes.writeUInt32LE(content.length, 4)
  const footer = Buffer.alloc(FOOTER_BYTES)
  footer.writeUInt32LE(crc32(content), 0)
  footer.writeUInt32LE(content.length, 4)
  return Buffer.concat([START, sizes, packed, footer])
}

/** The content in pieces that each become a member: whole lines where they are shorter than one. */
export async function* toMembers(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk])
    while (held.length >= MEMBER_BYTES) {
      const end = held.lastIndexOf(NEWLINE, MEMBER_BYTES - 1) + 1 || MEMBER_BYTES
      yield toMember(held.subarray(0, end))
      held = held.subarray(end)
    }
  }
  if (held.length > 0) yield toMember(held)
}

/** Every member, in order. Throws `io` for what is no packed file of ours. */
export function readTable(files: Files, fd: number, path: string): readonly Member[] {
  const size = files.size(fd)
  const members: Member[] = []
  const header = Buffer.alloc(HEADER_BYTES)
  let offset = 0
  for (let packedAt = 0; packedAt < size;) {
    const isWhole = files.read(fd, header, packedAt) === HEADER_BYTES && header.indexOf(START) === 0
    const packedLength = header.readUInt32LE(START.length)
    const length = header.readUInt32LE(START.length + 4)
    if (!isWhole || packedLength < HEADER_BYTES + FOOTER_BYTES || packedAt + packedLength > size) {
      throw broken(path, packedAt)
    }
    members.push({ offset, length, packedAt, packedLength })
    offset += length
    packedAt += packedLength
  }
  return members
}

/** The member's content, checked against its sum. */
export function readMember(files: Files, fd: number, member: Member, path: string): Buffer {
  const packed = Buffer.alloc(member.packedLength)
  const isWhole = files.read(fd, packed, member.packedAt) === packed.length
  const end = packed.length - FOOTER_BYTES
  try {
    const content = inflateRawSync(packed.subarray(HEADER_BYTES, end), {
      maxOutputLength: Math.max(1, member.length),
    })
    if (isWhole && content.length === member.length && crc32(content) === packed.readUInt32LE(end))
      return content
  } catch {
    // Told below.
  }
  throw broken(path, member.packedAt)
}

function broken(path: string, at: number): HansardError {
  return new HansardError('io', `${path} is damaged at byte ${at}`, {
    hint: 'its other members can still be read with zcat; restore the file from a backup',
  })
}
