/** Tar, zip and zstd files written by hand, as their standards have them and without compressing anything: no program is needed. */
import { crc32, gzipSync } from 'node:zlib'
import { tarEnd, tarHeader, tarPadding } from '../src/archive/tar.ts'

export type Members = Readonly<Record<string, string | Buffer>>

export function toTar(members: Members): Buffer {
  const parts = Object.entries(members).flatMap(([path, content]) => {
    const bytes = Buffer.from(content)
    return [tarHeader({ path, sizeBytes: bytes.length, modified: 0 }), bytes, tarPadding(bytes.length)]
  })
  return Buffer.concat([...parts, tarEnd()])
}

export function toZip(members: Members): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [path, content] of Object.entries(members)) {
    const [name, bytes] = [Buffer.from(path), Buffer.from(content)]
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(name.length, 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt32LE(crc32(bytes), 16)
    central.writeUInt32LE(bytes.length, 20)
    central.writeUInt32LE(bytes.length, 24)
    central.writeUInt16LE(name.length, 28)
    central.writeUInt32LE(at, 42)
    parts.push(local, name, bytes)
    directory.push(central, name)
    at += local.length + name.length + bytes.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Object.keys(members).length, 8)
  end.writeUInt16LE(Object.keys(members).length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, listed, end])
}

const BLOCK_BYTES = 128 * 1024

/** One frame of stored blocks, each as long as a block may be: what is cut off in one gives nothing of it. */
export function toZstd(bytes: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x58])]
  for (let at = 0; at === 0 || at < bytes.length; at += BLOCK_BYTES) {
    const block = bytes.subarray(at, at + BLOCK_BYTES)
    const header = Buffer.alloc(3)
    header.writeUIntLE((block.length << 3) | (at + BLOCK_BYTES >= bytes.length ? 1 : 0), 0, 3)
    parts.push(header, block)
  }
  return Buffer.concat(parts)
}

/** Each way that a tar or zip file comes, by the name it has. */
export const PACKERS = {
  'logs.tar': toTar,
  'logs.tar.gz': (members: Members) => gzipSync(toTar(members)),
  'logs.tar.zst': (members: Members) => toZstd(toTar(members)),
  'logs.zip': toZip,
} as const
