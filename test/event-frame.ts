/** A frame of Amazon's event stream, for tests that send some. */
import { crc32 } from 'node:zlib'

/** As Amazon lays it out. */
export function frame(headers: Readonly<Record<string, string>>, payload: Buffer): Buffer {
  const named = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const size = Buffer.alloc(2)
      size.writeUInt16BE(Buffer.byteLength(value))
      return Buffer.concat([
        Buffer.from([Buffer.byteLength(name)]),
        Buffer.from(name),
        Buffer.from([7]),
        size,
        Buffer.from(value),
      ])
    }),
  )
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + named.length + payload.length, 0)
  prelude.writeUInt32BE(named.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const all = Buffer.concat([prelude, named, payload])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(all))
  return Buffer.concat([all, checksum])
}
